/** Writes to a project until its disk is full, tells what failed how, makes room and goes on. */
import { closeSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { changeConfig, openProject } from "../../../src/atsf/index.js";
import { textMessage } from "../message.js";

const [root = ""] = process.argv.slice(2);
const project = await openProject(root);
const full = await project.create({ threadId: "full", title: "full", agent: { id: "a", name: "A" } });
const other = await project.create({ threadId: "other", title: "other", agent: { id: "a", name: "A" } });
await other.append(textMessage("kept"));

const acknowledged: string[] = [];
let failure = "";
for (let n = 0; failure === ""; n++) {
  failure = await kindOf(async () => {
    await full.append(textMessage(`m${n}`, "x".repeat(9_000)));
    acknowledged.push(`m${n}`);
  });
}
const filler = join(root, "filler");
fill(filler);
const large = Buffer.alloc(1_000_000, "x");
const failures = {
  append: failure,
  asset: await kindOf(() => other.saveAsset(large, "image/png")),
  image: await kindOf(() => other.append(imageMessage())),
  change: await kindOf(() => other.change([{ path: ["title"], value: large.toString() }])),
  clear: await kindOf(() => other.clear([{ path: ["title"], value: large.toString() }])),
  config: await kindOf(() =>
    changeConfig(root, { name: "a", version: "1" }, [{ path: ["x"], value: large.toString() }]),
  ),
  create: await kindOf(() =>
    project.create({ threadId: "new", title: large.toString(), agent: { id: "a", name: "A" } }),
  ),
};
const read = {
  full: (await full.read()).messages.map(({ id }) => id),
  problems: (await full.read()).problems,
};
const others = (await other.read()).messages.map(({ id }) => id);
const files = readdirSync(join(root, ".agent"), { recursive: true }).map(String).sort();
rmSync(filler);
rmSync(join(full.dir, (await full.clear()) ?? ""));
await full.append(textMessage("again"));
await project.close();
const again = { messages: (await full.read()).messages.map(({ id }) => id), envelope: await full.envelope() };
process.stdout.write(JSON.stringify({ acknowledged, failures, read, others, files, again }));

async function kindOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "";
  } catch (error) {
    return (error as { kind?: string }).kind ?? String(error);
  }
}

function imageMessage() {
  const image = { type: "image", data: large.toString("base64"), mimeType: "image/gif" };
  return textMessage("image", "", { content: [image as never] });
}

function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let n = 0; n < 10_000; n++) writeSync(file, Buffer.alloc(512));
  } catch {
    // It is full now.
  }
  closeSync(file);
}
