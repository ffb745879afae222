/** Takes a thread's lock, says so, and keeps it until it is killed. */
import { join } from "node:path";
import { takeLock } from "../../../src/base/index.js";

const lock = takeLock(join(process.argv[2] as string, "thread.lock"));
process.stdout.write(lock ? "held\n" : "refused\n");
setInterval(() => {}, 1_000);
