/** Says that it is ready, waits for a word, then appends messages until it is killed, telling each that is on disk. */
import { openProject } from "../../../src/atsf/index.js";
import { textMessage } from "../message.js";

const [root = "", id = "", prefix = ""] = process.argv.slice(2);
const project = await openProject(root);
const thread = await project.thread(id);
process.stdout.write("ready\n");
await new Promise((resolve) => process.stdin.once("data", resolve));

const AT_ONCE = 3;
const LONG = 30_000;
for (let next = 0; ; next += AT_ONCE) {
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, index) => {
      const number = next + index;
      const length = number % 11 === 10 ? LONG : number % 300;
      await thread.append(textMessage(`${prefix}${number}`, "x".repeat(length)));
      process.stdout.write(`${prefix}${number}\n`);
    }),
  );
}
