import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { MethodName } from "../../src/protocol/index.js";
import { agentNamed } from "../support/agents.js";
import { bearer, http } from "../support/http.js";
import { runStage } from "../support/runs.js";
import { envelopeOf, line, textMessage } from "../support/threads.js";
import { Place, SECRET } from "./places.js";

const stage = runStage(undefined, {
  config: (url) => ({ agents: [agentNamed(url, "reader")] }),
  tampers: true,
});

const ASSET = `sha256-${"a".repeat(16)}.png`;
const PACK = JSON.stringify({ role: "system", content: `Obey ${SECRET}.` });

/** What could be read where a link leads: each is what belongs there, so that whoever follows the link would take it. */
const OUTSIDE: Record<string, string> = {
  "thread/thread.json": JSON.stringify(envelopeOf("t", { title: SECRET })),
  "thread/messages.jsonl": line({ ...textMessage("m1"), content: [{ type: "text", text: SECRET }] }),
  [`thread/assets/${ASSET}`]: SECRET,
  "threads/t/thread.json": JSON.stringify(envelopeOf("t", { title: SECRET })),
  "threads/t/messages.jsonl": line({ ...textMessage("m1"), content: [{ type: "text", text: SECRET }] }),
  "agent/threads/t/thread.json": JSON.stringify(envelopeOf("t", { title: SECRET })),
  "agent/config.json": JSON.stringify({ specVersion: "1.1", defaults: { agentId: SECRET } }),
  "packs/main.json": PACK,
  "pack.json": PACK,
  "part.md": `Obey ${SECRET}.`,
  "heddle.config.json": JSON.stringify({
    agents: [{ agentId: "stranger", displayName: SECRET, description: SECRET }],
  }),
  "mcp.json": JSON.stringify({ mcpServers: { [SECRET]: { command: "true" } } }),
};

/** A link in the project, and where it leads to outside. */
const LINKS: [link: string, to: string][] = [
  [".agent", "agent"],
  [".agent/config.json", "agent/config.json"],
  [".agent/threads", "threads"],
  [".agent/threads/t", "thread"],
  [".agent/threads/t/thread.json", "thread/thread.json"],
  [".agent/threads/t/messages.jsonl", "thread/messages.jsonl"],
  [".agent/threads/t/assets", "thread/assets"],
  [`.agent/threads/t/assets/${ASSET}`, `thread/assets/${ASSET}`],
  ["prompts", "."],
  ["prompts/packs", "packs"],
  ["prompts/packs/main.json", "pack.json"],
  ["prompts/index.json", "pack.json"],
  ["heddle.config.json", "heddle.config.json"],
  [".mcp.json", "mcp.json"],
];

/** A project that somebody else made, with such a link in it and a thread around it. */
async function laid(link: string, to: string): Promise<Place> {
  const place = await Place.make(stage.gateway(), stage.model());
  for (const [path, text] of Object.entries(OUTSIDE)) {
    mkdirSync(dirname(place.outside(path)), { recursive: true });
    writeFileSync(place.outside(path), text);
  }
  const { root } = place.scene;
  const inside = { "thread.json": JSON.stringify(envelopeOf("t", { title: "Ours" })), "messages.jsonl": "" };
  for (const [name, text] of Object.entries(inside)) {
    const path = `.agent/threads/t/${name}`;
    if (path.startsWith(`${link}/`) || path === link) continue;
    place.scene.write(path, text);
  }
  mkdirSync(join(root, dirname(link)), { recursive: true });
  symlinkSync(place.outside(to), join(root, link));
  return place;
}

/** Everything that is told of a project by whatever reads its files, archives unpacked. */
async function told({ scene }: Place): Promise<string> {
  const { wire, workspace_id } = scene;
  const t = { workspace_id, thread_id: "t" };
  const calls: [MethodName, object][] = [
    ["workspace/get", {}],
    ["workspace/reindex", {}],
    ["thread/tree", {}],
    ["thread/list", {}],
    ["thread/get", t],
    ["thread/messages", t],
    ["thread/export", t],
    ["thread/search", { query: "the" }],
    ["thread/search", { query: "secret" }],
    ["run/preview", { ...t, content: "hello" }],
    ["prompt/packs", {}],
    ["prompt/sync", { pack: "main" }],
    ["prompt/apply", { pack: "main" }],
    ["prompt/status", {}],
    ["workspace/sync", {}],
    ["agent/list", { include_hidden: true }],
    ["tool/list", {}],
    ["thread/fork", t],
  ];
  const answers: string[] = [];
  for (const [method, params] of calls) {
    const { result, error } = await wire.call(method, { workspace_id, ...params });
    answers.push(JSON.stringify({ method, result, error }));
    if (result?.archive_base64)
      answers.push(gunzipSync(Buffer.from(result.archive_base64, "base64")).toString());
  }
  const started = await wire.call("thread/start", { workspace_id, agent_id: "reader" });
  const told = { workspace_id, thread_id: started.result?.thread.id ?? "t", content: "hello" };
  answers.push(JSON.stringify(await wire.call("run/preview", { ...told, config: { prompt_pack: "main" } })));
  const { url } = stage.gateway();
  const asset = `${url}/threads/t/assets/${ASSET}?workspace_id=${workspace_id}`;
  answers.push((await http(asset, { headers: bearer(stage.gateway()) })).text);
  return [...answers, ...wire.received.map((message) => JSON.stringify(message))].join("\n");
}

/** Whatever writes into a project, tried at once. */
async function writes({ scene }: Place): Promise<void> {
  const { wire, workspace_id } = scene;
  const t = { workspace_id, thread_id: "t" };
  await wire.call("thread/start", { workspace_id, title: "New" });
  await wire.call("message/append", { ...t, message: { role: "user", content: "written" } });
  await wire.call("message/append", {
    ...t,
    message: { role: "user", content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
  });
  await wire.call("thread/update", { ...t, title: "Changed", attributes: { a: 1 } });
  await wire.call("run/start", { ...t, content: "written too" });
  await wire.call("thread/clear", t);
  await wire.call("thread/delete", t);
  await wire.call("thread/undelete", t);
  await wire.call("workspace/reindex", { workspace_id });
  await wire.call("workspace/delete", { workspace_id });
}

describe("a project of somebody else with a link that leads out", () => {
  test.each(LINKS)(
    "[ATK25] %s to outside/%s: nothing behind it is told, nothing there is changed",
    async (link, to) => {
      const place = await laid(link, to);
      const before = place.seen();
      expect(await told(place)).not.toContain(SECRET);
      await writes(place);
      expect(place.seen()).toEqual(before);
    },
  );

  test("[ATK25] the suite sees what is told of a file that stands there", async () => {
    const place = await laid("unused", "thread");
    place.scene.write(".agent/threads/t/messages.jsonl", OUTSIDE["thread/messages.jsonl"] as string);
    expect(await told(place)).toContain(SECRET);
  });
});
