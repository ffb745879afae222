import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freshRepository, ownGit } from "../atsf/repository.js";
import { startGateway } from "../support/gateway.js";
import { onEachStore } from "../support/stores.js";
import { envelopeOf, line, soon, textMessage, threadStage } from "../support/threads.js";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What other programs may have put into `thread.json`, in their own layout. */
const FOREIGN = `{
    "specVersion":"1.9" , "z": 12345678901234567890.5,
  "title": "Theirs", "threadId" : "theirs",
  "createdAt": "2026-01-01T00:00:00.000Z", "updatedAt": "2026-01-01T00:00:00.000Z",
  "agent": {"name":"Other", "id":"@scope/other", "mood": [1 ,2]},
  "context": { "workingDir": "/elsewhere", "shell": "fish" },
  "stats": {"messageCount":0,"userMessageCount":0,"agentMessageCount":0,"toolCallCount":0,"cost":1.50},
  "metadata": { "other.app": {"b":1,"a":2} }
}
`;

onEachStore("threads as files", (kind) => {
  const stage = threadStage(kind);

  test("[THR1] [THR4] a new thread is a directory with an envelope, a readable one", async () => {
    const scene = await stage.scene();
    const thread = await scene.start();
    expect(scene.directories()).toEqual([thread.id]);
    expect(readdirSync(scene.path(thread.id))).toEqual(["thread.json"]);
    const { createdAt } = scene.envelope(thread.id);
    expect(createdAt).toMatch(ISO);
    expect(scene.envelope(thread.id)).toEqual({
      specVersion: "1.1",
      threadId: thread.id,
      title: "New thread",
      createdAt,
      updatedAt: createdAt,
      agent: { id: "demo", name: "Demo", protocol: "custom" },
      context: { workingDir: scene.root, relativeDir: "." },
      stats: { messageCount: 0, userMessageCount: 0, agentMessageCount: 0, toolCallCount: 0 },
      metadata: { heddle: { updatedAt: expect.stringMatching(ISO) } },
    });
    expect(scene.text(thread.id).endsWith("}\n")).toBe(true);
    expect(existsSync(join(scene.root, ".agent", ".gitignore"))).toBe(true);
    expect(existsSync(join(scene.root, ".agent", "config.json"))).toBe(false);
  });

  test("[THR4] in git it says on which branch and commit, and where below the checkout's root", async () => {
    ownGit();
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const repository = freshRepository({ "packages/app/a.txt": "a" });
    const root = join(repository.dir, "packages", "app");
    const scene = await stage.sceneAt(root);
    const { id } = await scene.start();
    expect(scene.envelope(id).context).toEqual({
      workingDir: root,
      relativeDir: join("packages", "app"),
      gitBranch: "main",
      gitCommit: repository.first,
    });
    await scene.append(id, "hello");
    expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe(
      "?? packages/app/.agent/.gitignore",
    );
  });

  test("[THR2] what is changed over the wire stands in the file, and nothing else there changes", async () => {
    const scene = await stage.scene();
    scene.foreign("theirs", { envelope: FOREIGN });
    const folder_id = await scene.folder("F");
    await soon(() => scene.get("theirs").catch(() => undefined)).toMatchObject({ title: "Theirs" });
    const thread_id = "theirs";
    await scene.update(thread_id, { title: "Ours", pinned: true });
    await scene.update(thread_id, { attributes: { x: { y: 1 } }, config: { model: "m" } });
    await scene.wire.result("thread/move", { thread_id, workspace_id: scene.workspace_id, folder_id });
    const { heddle } = scene.envelope(thread_id).metadata;
    expect(heddle).toEqual({
      named: true,
      pinnedAt: expect.stringMatching(ISO),
      attributes: { x: { y: 1 } },
      config: { model: "m" },
      updatedAt: expect.stringMatching(ISO),
      folder: ["F"],
      folderId: folder_id,
    });
    const text = scene.text(thread_id);
    for (const row of FOREIGN.split("\n").filter((each) => !/"title"|metadata|^[{}]?$/.test(each))) {
      expect(text).toContain(row);
    }
    expect(text).toContain('"title": "Ours", "threadId" : "theirs"');
    expect(text).toContain('"other.app": {"b":1,"a":2}');
    await scene.update(thread_id, { pinned: false, attributes: { x: null }, config: { model: null } });
    await scene.wire.result("thread/move", { thread_id, workspace_id: scene.workspace_id });
    expect(scene.envelope(thread_id).metadata.heddle).toEqual({ named: true, updatedAt: expect.any(String) });
  });

  test("[THR3] a change that changes nothing writes nothing and tells nobody", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T", config: { model: "m" } });
    await scene.update(id, { pinned: true, attributes: { a: 1 } });
    const [text, { seq }] = [scene.text(id), await scene.tree()];
    await scene.update(id, { title: "T", pinned: true, attributes: { a: 1 }, config: { model: "m" } });
    expect(scene.text(id)).toBe(text);
    expect((await scene.tree()).seq).toBe(seq);
  });

  test("[THR5] the file's time is the last message's; the wire's also that of the last change", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const old = "2020-02-02T02:02:02.000Z";
    await scene.append(id, { role: "user", content: "old", timestamp: old });
    await soon(() => scene.envelope(id).updatedAt).toBe(old);
    expect(scene.envelope(id).stats).toMatchObject({ messageCount: 1, userMessageCount: 1 });
    const before = await scene.get(id);
    expect(before.updated_at).toBe(before.created_at);
    const late = new Date((before.updated_at + 3_600) * 1000).toISOString();
    await scene.append(id, { role: "agent", content: "late", timestamp: late });
    expect((await scene.get(id)).updated_at).toBe(before.updated_at + 3_600);
    await soon(() => scene.envelope(id).updatedAt).toBe(late);
    await scene.update(id, { title: "U" });
    expect(scene.envelope(id).updatedAt).toBe(late);
    expect(Date.parse(scene.envelope(id).metadata.heddle.updatedAt)).toBeLessThan(Date.parse(late));
  });

  test("[THR6] a store that was lost comes back from the files, whole", async () => {
    const scene = await stage.scene();
    const outer = await scene.folder("Outer");
    const inner = await scene.folder("Inner", outer);
    const plain = await scene.start();
    await scene.append(plain.id, "What about the kingfisher?");
    await scene.append(plain.id, { role: "agent", content: "It dives." });
    const rich = await scene.start({
      title: "Named",
      folder_id: inner,
      config: { model: "m", max_tokens: 9 },
    });
    await scene.update(rich.id, { pinned: true, attributes: { tags: ["a"], n: null } });
    const gone = await scene.start({ title: "gone" });
    await scene.wire.result("thread/delete", { thread_id: gone.id });
    await scene.wire.result("thread/folder/rename", {
      workspace_id: scene.workspace_id,
      folder_id: outer,
      name: "Renamed",
    });
    await soon(() => scene.envelope(rich.id).metadata.heddle.folder).toEqual(["Renamed", "Inner"]);
    const before = await Promise.all([scene.get(plain.id), scene.get(rich.id)]);
    const messages = await scene.messages(plain.id);

    const other = await startGateway(kind);
    onTestFinished(() => other.stop());
    const fresh = await stage.sceneAt(scene.root, other);
    const { threads, folders, placements } = await fresh.tree();
    expect(folders.map(({ name }) => name)).toEqual(["Renamed", "Inner"]);
    const [renamed, innermost] = folders;
    expect(innermost?.parent_folder_id).toBe(renamed?.id);
    const here = (thread: object) => ({ ...thread, workspace_id: fresh.workspace_id });
    const byId = (id: string) => threads.find((thread) => thread.id === id);
    expect(threads.length).toBe(2);
    expect(byId(plain.id)).toEqual(here(before[0]));
    expect(byId(rich.id)).toEqual({ ...here(before[1]), folder_id: innermost?.id });
    expect(placements.find(({ thread_id }) => thread_id === rich.id)?.folder_id).toBe(innermost?.id);
    expect(await fresh.messages(plain.id)).toEqual(messages);
    expect(await fresh.found("kingf")).toEqual([messages[0]?.id]);
    const titled = await fresh.append(plain.id, "And the heron?");
    expect((await fresh.get(plain.id)).title).toBe("What about the kingfisher?");
    expect(await fresh.found("heron")).toEqual([titled.id]);
  });

  test("[THR7] a restart changes nothing: not the answers, not the files, and nobody is told", async () => {
    const scene = await stage.scene();
    const folder_id = await scene.folder("F");
    const { id } = await scene.start({ folder_id });
    await scene.append(id, "hello there");
    await scene.update(id, { pinned: true });
    await soon(() => scene.envelope(id).stats.messageCount).toBe(1);
    const [tree, text, log] = [await scene.tree(), scene.text(id), scene.text(id, "messages.jsonl")];
    await stage.restart();
    const again = await stage.sceneAt(scene.root);
    expect(again.workspace_id).toBe(scene.workspace_id);
    expect(await again.tree()).toEqual(tree);
    expect([again.text(id), again.text(id, "messages.jsonl")]).toEqual([text, log]);
    expect(await again.found("hello")).toHaveLength(1);
  });

  test("[THR8] a workspace without a project keeps its threads under the data directory", async () => {
    const gateway = stage.gateway();
    const wire = await gateway.wire();
    const { thread } = await wire.result("thread/start", { workspace_id: gateway.home, title: "at home" });
    const dir = join(gateway.place.dataDir, "workspaces", gateway.home, ".agent", "threads", thread.id);
    expect(readdirSync(dir)).toEqual(["thread.json"]);
    await wire.result("message/append", { thread_id: thread.id, message: { role: "user", content: "x" } });
    expect(readdirSync(dir)).toContain("messages.jsonl");
    rmSync(dir, { recursive: true });
    await soon(async () => (await wire.call("thread/get", { thread_id: thread.id })).error?.data.kind).toBe(
      "thread.not_found",
    );
  });

  test("[THR9] without an agent the project's own choice counts, if there is such an agent", async () => {
    const scene = await stage.scene();
    const config = (text: string) => {
      rmSync(join(scene.root, ".agent", "config.json"), { force: true });
      writeFileSync(join(scene.root, ".agent", "config.json"), text);
    };
    await scene.start();
    config('{"specVersion":"1.1","defaults":{"agentId":"nobody","useWorktree":true}}');
    const outsideGit = await scene.start();
    expect([outsideGit.agent_id, outsideGit.worktree]).toEqual(["demo", undefined]);
    config('{"specVersion":"1.1","defaults":{"agentId":"demo"}}');
    expect((await scene.start({ agent_id: "mine" })).agent_id).toBe("mine");
    expect((await scene.start()).agent_id).toBe("demo");
    config('{"specVersion":"2.0"}');
    expect((await scene.wire.error("thread/start", { workspace_id: scene.workspace_id })).data.kind).toBe(
      "atsf.version_unsupported",
    );
    config("{ not json");
    expect((await scene.wire.error("thread/start", { workspace_id: scene.workspace_id })).data.kind).toBe(
      "atsf.invalid_file",
    );
    expect(scene.directories()).toHaveLength(4);
  });

  test("[WIRE113] the list of agents marks who answers where nobody was named, as a thread finds it", async () => {
    const { wire, workspace_id, ...scene } = await stage.scene();
    const marked = async (params: object) =>
      (await wire.result("agent/list", params)).data.filter((agent) => agent.default).map((a) => a.agent_id);
    const config = (text: string) => {
      rmSync(join(scene.root, ".agent", "config.json"), { force: true });
      writeFileSync(join(scene.root, ".agent", "config.json"), text);
    };
    const begun = async () => (await wire.result("thread/start", { workspace_id })).thread.agent_id;
    expect([await begun(), await marked({ workspace_id }), await marked({})]).toEqual([
      "demo",
      ["demo"],
      ["demo"],
    ]);
    config('{"specVersion":"1.1","defaults":{"agentId":"demo-notes"}}');
    expect([await begun(), await marked({ workspace_id }), await marked({})]).toEqual([
      "demo-notes",
      ["demo-notes"],
      ["demo"],
    ]);
    config('{"specVersion":"1.1","defaults":{"agentId":"nobody"}}');
    expect([await begun(), await marked({ workspace_id })]).toEqual(["demo", ["demo"]]);
    config("{ not json");
    expect(await marked({ workspace_id })).toEqual(["demo"]);
    expect(await marked({ workspace_id: "ws_none" })).toEqual(["demo"]);
  });

  test("[THR10] a newer minor version is never downgraded, an older one is raised with the first change", async () => {
    const scene = await stage.scene();
    scene.foreign("newer", { envelope: { specVersion: "1.10" } });
    scene.foreign("older", { envelope: { specVersion: "1.0" } });
    scene.foreign("none", { envelope: JSON.stringify({ ...envelopeOf("none"), specVersion: undefined }) });
    await soon(async () => (await scene.list()).length).toBe(3);
    for (const id of ["newer", "older", "none"]) await scene.update(id, { title: "changed" });
    const versions = ["newer", "older", "none"].map((id) => scene.envelope(id).specVersion);
    expect(versions).toEqual(["1.10", "1.1", "1.1"]);
  });

  test("[THR11] a folder that is renamed, moved or deleted is followed in the files of its threads", async () => {
    const scene = await stage.scene();
    const { wire, workspace_id } = scene;
    const [a, b] = [await scene.folder("A"), await scene.folder("B")];
    const { id } = await scene.start({ folder_id: a });
    const names = () => scene.envelope(id).metadata.heddle.folder;
    expect(names()).toEqual(["A"]);
    await wire.result("thread/folder/rename", { workspace_id, folder_id: a, name: "C" });
    await soon(names).toEqual(["C"]);
    await wire.result("thread/folder/move", { workspace_id, folder_id: a, parent_folder_id: b });
    await soon(names).toEqual(["B", "C"]);
    await wire.result("thread/folder/delete", { workspace_id, folder_id: b });
    await soon(names).toEqual(["C"]);
    await wire.result("thread/folder/delete", { workspace_id, folder_id: a });
    await soon(names).toBeUndefined();
  });

  test("[THR13] ids that lead elsewhere or that no system has are threads of nobody", async () => {
    const scene = await stage.scene();
    await scene.start();
    const { workspace_id } = scene;
    for (const thread_id of [".", "..", "con", "NUL.txt", ".hidden"]) {
      for (const method of ["thread/get", "thread/messages", "thread/export", "thread/delete"]) {
        const error = await scene.wire.error(method, { workspace_id, thread_id });
        expect(error, `${method} ${thread_id}`).toMatchObject({
          code: -32602,
          data: { kind: "thread.not_found" },
        });
      }
    }
    for (const thread_id of ["a/b", "../x", "", "x".repeat(129), "a\0"]) {
      expect((await scene.wire.error("thread/get", { workspace_id, thread_id })).code).toBe(-32602);
    }
    mkdirSync(scene.path("con"), { recursive: true });
    writeFileSync(scene.path("con", "thread.json"), JSON.stringify(envelopeOf("con")));
    scene.foreign(".hidden");
    scene.foreign("fine");
    await soon(async () => (await scene.list()).length).toBe(2);
  });

  test("[THR12] two workspaces may have a thread of one id: then the workspace must be given", async () => {
    const [one, two] = [await stage.scene(), await stage.scene()];
    for (const scene of [one, two]) scene.foreign("same", { log: line(textMessage("m", scene.root)) });
    for (const scene of [one, two]) await soon(async () => (await scene.list()).length).toBe(1);
    const error = await one.wire.error("thread/get", { thread_id: "same" });
    expect(error).toMatchObject({ code: -32602, data: { kind: "thread.ambiguous" } });
    expect((await two.messages("same"))[0]?.content).toEqual([{ type: "text", text: two.root }]);
  });
});
