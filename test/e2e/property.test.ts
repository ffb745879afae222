import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AgentsDocResolved, NotificationParams } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { shapeOf, TreeMirror } from "../support/mirror.js";
import { type DocChange, type Effective, TreeModel } from "../support/model.js";
import { onEachStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

/** Commands name folders and threads by a number that is taken modulo how many there are; 0 is the root. */
type Command =
  | { do: "addFolder"; parent: number; after: number }
  | { do: "moveFolder"; folder: number; parent: number; after: number }
  | { do: "deleteFolder"; folder: number }
  | { do: "addThread"; folder: number }
  | { do: "moveThread"; thread: number; folder: number; after: number }
  | { do: "deleteThread"; thread: number }
  | { do: "save"; folder: number; content: string; expected: "none" | "right" | "wrong" }
  | { do: "archive"; folder: number };

const pick = fc.nat({ max: 30 });
const content = fc.constantFrom("", " \n", "one", "two", "three\n");
const commands = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("addFolder" as const), parent: pick, after: pick }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant("moveFolder" as const),
        folder: pick,
        parent: pick,
        after: pick,
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("deleteFolder" as const), folder: pick }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("addThread" as const), folder: pick }) },
    {
      weight: 2,
      arbitrary: fc.record({
        do: fc.constant("moveThread" as const),
        thread: pick,
        folder: pick,
        after: pick,
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("deleteThread" as const), thread: pick }) },
    {
      weight: 5,
      arbitrary: fc.record({
        do: fc.constant("save" as const),
        folder: pick,
        content,
        expected: fc.constantFrom("none" as const, "right" as const, "wrong" as const),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("archive" as const), folder: pick }) },
  ),
  { minLength: 15, maxLength: 40 },
);

/** What a command should lead to, besides its answer. */
interface Expected {
  doc?: DocChange;
  treeChanged: boolean;
  threadChanged?: boolean;
  threadDeleted?: boolean;
}

const NOTHING: Expected = { treeChanged: false };

class Run {
  readonly model = new TreeModel();
  readonly wire: Wire;
  readonly workspace_id: string;

  constructor(wire: Wire, workspace_id: string) {
    this.wire = wire;
    this.workspace_id = workspace_id;
  }

  folder(index: number): string | null {
    return [null, ...this.model.folderIds()][index % (this.model.folderIds().length + 1)] ?? null;
  }

  thread(index: number): string | undefined {
    const ids = this.model.threadIds();
    return ids[index % Math.max(1, ids.length)];
  }

  /** One of: absent, first, after a sibling. */
  after(siblings: readonly string[], moving: string | null, index: number): string | null | undefined {
    const others = siblings.filter((id) => id !== moving);
    return [undefined, null, ...others][index % (others.length + 2)];
  }

  async step(command: Command): Promise<Expected> {
    const { wire, workspace_id, model } = this;
    switch (command.do) {
      case "addFolder": {
        const parent = this.folder(command.parent);
        const after_id = this.after(model.folders.get(parent) ?? [], null, command.after);
        const name = `f${model.names.size}`;
        const params = {
          workspace_id,
          name,
          parent_folder_id: parent,
          ...(after_id !== undefined && { after_id }),
        };
        const { folder } = await wire.result("thread/folder/create", params);
        model.addFolder(folder.id, name, parent, after_id);
        return { treeChanged: true };
      }
      case "moveFolder":
        return this.#moveFolder(command);
      case "deleteFolder": {
        const folder_id = this.folder(command.folder);
        if (folder_id === null) return NOTHING;
        await wire.result("thread/folder/delete", { workspace_id, folder_id });
        const doc = model.deleteFolder(folder_id);
        return { treeChanged: true, ...(doc && { doc }) };
      }
      default:
        return this.#stepThreadOrDoc(command);
    }
  }

  async #moveFolder(command: Extract<Command, { do: "moveFolder" }>): Promise<Expected> {
    const { wire, workspace_id, model } = this;
    const folder_id = this.folder(command.folder);
    const parent = this.folder(command.parent);
    if (folder_id === null) return NOTHING;
    const after_id = this.after(model.folders.get(parent) ?? [], folder_id, command.after);
    const params = {
      workspace_id,
      folder_id,
      parent_folder_id: parent,
      ...(after_id !== undefined && { after_id }),
    };
    if (!model.canMove(folder_id, parent)) {
      expect((await wire.error("thread/folder/move", params)).data.kind).toBe("folder.cycle");
      return NOTHING;
    }
    await wire.result("thread/folder/move", params);
    const doc = model.moveFolder(folder_id, parent, after_id);
    return { treeChanged: true, ...(doc && { doc }) };
  }

  async #stepThreadOrDoc(command: Command): Promise<Expected> {
    const { wire, workspace_id, model } = this;
    switch (command.do) {
      case "addThread": {
        const folder_id = this.folder(command.folder);
        const { thread } = await wire.result("thread/start", { workspace_id, folder_id });
        model.addThread(thread.id, folder_id);
        return { treeChanged: true, threadChanged: true };
      }
      case "moveThread": {
        const thread_id = this.thread(command.thread);
        if (thread_id === undefined) return NOTHING;
        const folder_id = this.folder(command.folder);
        const after_id = this.after(model.threads.get(folder_id) ?? [], thread_id, command.after);
        await wire.result("thread/move", {
          thread_id,
          folder_id,
          ...(after_id !== undefined && { after_id }),
        });
        model.moveThread(thread_id, folder_id, after_id);
        return { treeChanged: true };
      }
      case "deleteThread": {
        const thread_id = this.thread(command.thread);
        if (thread_id === undefined) return NOTHING;
        await wire.result("thread/delete", { workspace_id, thread_id });
        model.deleteThread(thread_id);
        return { treeChanged: true, threadDeleted: true };
      }
      case "save":
        return this.#save(command);
      case "archive": {
        const folder_id = this.folder(command.folder);
        const { archived, effective } = await wire.result("thread/agents_doc/archive", {
          workspace_id,
          folder_id,
        });
        const doc = model.archive(folder_id);
        expect(archived).toBe(doc !== null);
        expect(told(effective)).toEqual(model.effective(folder_id));
        return doc ? { doc, treeChanged: true } : NOTHING;
      }
      default:
        throw new Error(`no command ${command.do}`);
    }
  }

  async #save(command: Extract<Command, { do: "save" }>): Promise<Expected> {
    const { wire, workspace_id, model } = this;
    const folder_id = this.folder(command.folder);
    const current = model.docs.get(folder_id)?.version ?? 0;
    const expected_version = { none: undefined, right: current, wrong: current + 1 }[command.expected];
    const params = { workspace_id, folder_id, content: command.content, expected_version };
    const change = model.save(folder_id, command.content, expected_version);
    if (change === undefined) {
      expect((await wire.error("thread/agents_doc/save", params)).data.kind).toBe("version_conflict");
      return NOTHING;
    }
    const { doc } = await wire.result("thread/agents_doc/save", params);
    expect(doc.version).toBe(model.docs.get(folder_id)?.version);
    return change ? { doc: change, treeChanged: true } : NOTHING;
  }

  /** Resolution of every scope and thread equals the model's. */
  async checkResolution(): Promise<void> {
    const { wire, workspace_id, model } = this;
    for (const folder_id of [null, ...model.folderIds()]) {
      const { effective, explicit } = await wire.result("thread/agents_doc/get", { workspace_id, folder_id });
      this.#checkEffective(effective, folder_id);
      expect(explicit?.content).toBe(model.docs.get(folder_id)?.content);
    }
    for (const thread_id of model.threadIds()) {
      const { effective } = await wire.result("thread/agents_doc/resolve_for_thread", { thread_id });
      this.#checkEffective(effective, model.folderOf(thread_id));
    }
  }

  #checkEffective(effective: AgentsDocResolved | undefined, folder: string | null): void {
    const wanted = this.model.effective(folder);
    expect(told(effective)).toEqual(wanted);
    if (!effective || !wanted) return;
    expect(effective.source_path).toEqual(this.model.path(wanted.scope));
    expect(effective.inherited).toBe(wanted.scope !== folder);
    expect(effective.resolved_for_folder_id ?? null).toBe(folder);
  }

  /** Order of folders and threads equals the model's. */
  async checkOrder(): Promise<void> {
    const tree = await this.wire.result("thread/tree", { workspace_id: this.workspace_id });
    for (const [parent, ids] of this.model.folders) {
      const listed = tree.folders.filter((folder) => (folder.parent_folder_id ?? null) === parent);
      expect(listed.map(({ id }) => id)).toEqual(ids);
    }
    for (const [folder, ids] of this.model.threads) {
      const listed = tree.placements.filter((placement) => (placement.folder_id ?? null) === folder);
      expect(listed.map(({ thread_id }) => thread_id)).toEqual(ids);
    }
  }
}

function told(effective: AgentsDocResolved | undefined): Effective | null {
  return effective ? { scope: effective.source_folder_id ?? null, content: effective.doc.content } : null;
}

function toldChange(params: NotificationParams<"thread/agents_doc/changed">): DocChange {
  const { doc, effective, effective_changed } = params;
  return {
    folder_id: params.folder_id ?? null,
    doc: doc ? { version: doc.version, status: doc.status } : null,
    effective: told(effective),
    effective_changed,
  };
}

async function checkNotifications(observer: Wire, from: number, expected: Expected): Promise<void> {
  const wanted = [
    ...(expected.threadChanged ? ["thread/changed"] : []),
    ...(expected.threadDeleted ? ["thread/deleted"] : []),
    ...(expected.doc ? ["thread/agents_doc/changed"] : []),
    ...(expected.treeChanged ? ["thread/tree/changed"] : []),
  ];
  const heard = (await observer.settled()).slice(from);
  expect(heard.map(({ method }) => method)).toEqual(wanted);
  const doc = heard.find(({ method }) => method === "thread/agents_doc/changed");
  if (doc) expect(toldChange(doc.params)).toEqual(expected.doc);
}

onEachStore("random trees", (kind) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());

  async function play(list: Command[]): Promise<void> {
    const wire = await gateway.wire();
    const observer = await gateway.wire();
    const { workspace } = await wire.result("workspace/create", { name: "model" });
    const mirror = new TreeMirror(await observer.result("thread/tree", { workspace_id: workspace.id }));
    const run = new Run(wire, workspace.id);
    for (const command of list) {
      const from = observer.notifications().length;
      await checkNotifications(observer, from, await run.step(command));
    }
    await run.checkResolution();
    await run.checkOrder();
    for (const { params } of observer.notifications("thread/tree/changed")) mirror.hear(params);
    expect(mirror.shape()).toEqual(shapeOf(await wire.result("thread/tree", { workspace_id: workspace.id })));
    wire.close();
    observer.close();
  }

  test("[TREE1] random folders, moves, saves and archives: resolution, order, effective_changed and every notification equal a plain model's", async () => {
    const numRuns = kind.name === "sqlite" ? 60 : 25;
    await fc.assert(fc.asyncProperty(commands, play), { numRuns, seed: 20261115, endOnFailure: true });
  }, 180_000);
});
