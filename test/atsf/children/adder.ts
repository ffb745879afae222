/** Adds one to a number in a thread's metadata, many times. */
import { openProject } from "../../../src/atsf/index.js";

const [root = "", id = "", times = "0"] = process.argv.slice(2);
const project = await openProject(root);
const thread = await project.thread(id);
for (let n = 0; n < Number(times); n++) {
  await thread.change(({ metadata }) => [{ path: ["metadata", "n"], value: Number(metadata?.n) + 1 }]);
}
await project.close();
