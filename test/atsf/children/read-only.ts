/** Tries everything on a project that can't be written, and tells what came of it. */
import { changeConfig, openProject, readConfig } from "../../../src/atsf/index.js";
import { textMessage } from "../message.js";

const [root = ""] = process.argv.slice(2);
const project = await openProject(root);
const agent = { id: "a", name: "A" };
const told: Record<string, string> = {};

for (const id of ["used", "fresh"]) {
  const thread = await project.thread(id);
  told[`${id} read`] = (await thread.read()).messages.map((message) => message.id).join();
  told[`${id} page`] = (await thread.page()).entries.map(({ message }) => message.id).join();
  told[`${id} title`] = (await thread.envelope()).title;
  await attempt(`${id} append`, () => thread.append(textMessage("new")));
  await attempt(`${id} change`, () => thread.change([{ path: ["title"], value: "new" }]));
  await attempt(`${id} clear`, () => thread.clear());
  await attempt(`${id} asset`, () => thread.saveAsset(Buffer.from("x"), "image/png"));
  await attempt(`${id} remove`, () => project.remove(id));
}
await attempt("create", () => project.create({ threadId: "new", title: "new", agent }));
await attempt("config", () =>
  changeConfig(root, { name: "a", version: "1" }, [{ path: ["defaults", "agentId"], value: "b" }]),
);
told["config read"] = (await readConfig(root))?.defaults?.agentId ?? "";
told.listed = (await project.list()).length.toString();
await project.close();
process.stdout.write(JSON.stringify(told));

async function attempt(name: string, work: () => Promise<unknown>): Promise<void> {
  told[name] = await work().then(
    () => "worked",
    (error) => error.kind ?? String(error),
  );
}
