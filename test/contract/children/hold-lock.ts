/** Takes a kernel lock, says whether it got it, and stays until it is killed. Its own reference to the lock is dropped. */
import { takeLock } from "../../../src/base/index.js";

const [path = ""] = process.argv.slice(2);
const took = takeLock(path) !== undefined;
const collect = (globalThis as { gc?: () => void }).gc;
for (let n = 0; n < 10; n++) {
  collect?.();
  await new Promise((next) => setImmediate(next));
}
process.emitWarning("after the lock");
await new Promise((next) => setImmediate(next));
process.stdout.write(`${took ? "held" : "refused"}${collect ? ", collected" : ""}\n`);
setInterval(() => {}, 60_000);
