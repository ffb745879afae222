/** Appends messages to a thread, a few at once, and prints each id once it is acknowledged. */
import { openProject } from "../../../src/atsf/index.js";
import { textMessage } from "../message.js";

const [root = "", id = "", prefix = "", count = "0"] = process.argv.slice(2);
const project = await openProject(root);
const thread = await project.thread(id);
const AT_ONCE = 3;

for (let next = 0; next < Number(count); next += AT_ONCE) {
  const wanted = Array.from({ length: Math.min(AT_ONCE, Number(count) - next) }, (_, index) => next + index);
  await Promise.all(
    wanted.map(async (number) => {
      await thread.append(textMessage(`${prefix}${number}`, "x".repeat(number % 300)));
      process.stdout.write(`${prefix}${number}\n`);
    }),
  );
}
await project.close();
