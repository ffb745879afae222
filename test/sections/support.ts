import { afterEach, beforeEach } from "vitest";
import { idMaker, systemClock } from "../../src/base/index.js";
import { HookRuntime } from "../../src/hooks/index.js";
import { archiveDoc, Resolver, saveDoc } from "../../src/instructions/index.js";
import { agentsDocPackage } from "../../src/prompts/sections/agents-doc.js";
import { toolsPackage } from "../../src/prompts/sections/tools.js";
import { folders, type Store } from "../../src/store/index.js";
import { addThread, addWorkspace, folderRow, threadRow } from "../contract/support/rows.js";
import { openStage, type Stage } from "../contract/support/stage.js";
import { onEachStore } from "../support/stores.js";

export const PRE = "turn.pre_prompt_compile";
export const WORKSPACE = "ws";

/** A workspace with a thread at its root, and the hooks of a run. */
export interface Scene {
  readonly hooks: HookRuntime;
  readonly store: Store;
  /** Adds folders within each other by their names, and a thread in the last one. */
  placeThread(thread_id: string, ...names: string[]): Promise<string>;
  /** Saves the document of a folder, or of the root, and answers its id. */
  save(content: string, folder_id?: string): Promise<string>;
  archive(folder_id?: string): Promise<void>;
  /** What the hooks contribute for a thread. */
  contributed(thread_id?: string): ReturnType<HookRuntime["run"]>;
  /** The text of the AGENTS.md section; undefined when there is none. */
  section(thread_id?: string): Promise<string | undefined>;
}

/** Runs a suite on both stores, each test on its own. */
export function onEachScene(name: string, suite: (scene: () => Scene) => void): void {
  onEachStore(name, (kind) => {
    let stage: Stage;
    let resolver: Resolver;
    let current: Scene;
    beforeEach(async () => {
      stage = await openStage(kind);
      resolver = new Resolver(stage.store);
      current = sceneOn(stage.store, resolver);
      await stage.store.write({ key: WORKSPACE }, function* () {
        yield* addWorkspace(WORKSPACE);
        yield* addThread(threadRow(WORKSPACE, "thr_root"));
      });
    });
    afterEach(async () => {
      await current.hooks.close();
      resolver.close();
      await stage.end();
    });
    suite(() => current);
  });
}

function sceneOn(store: Store, resolver: Resolver): Scene {
  const deps = { store, clock: systemClock, makeId: idMaker(systemClock) };
  const call = { actor: undefined, origin: undefined };
  const hooks = new HookRuntime();
  hooks.install(agentsDocPackage({ resolver }), toolsPackage());
  const contributed = (thread_id = "thr_root") =>
    hooks.run(PRE, { workspace_id: WORKSPACE, thread_id, tools: [] });
  return {
    hooks,
    store,
    async placeThread(thread_id, ...names) {
      const ids = names.map((_, level) => `fld_${thread_id}_${level}`);
      await store.write({ key: WORKSPACE }, function* () {
        for (const [level, name] of names.entries()) {
          const parent_folder_id = ids[level - 1] ?? null;
          yield* folders.insertFolder(folderRow(WORKSPACE, ids[level] as string, { name, parent_folder_id }));
        }
        yield* addThread(threadRow(WORKSPACE, thread_id), ids.at(-1) ?? null);
      });
      return ids.at(-1) as string;
    },
    async save(content, folder_id) {
      const scope = { workspace_id: WORKSPACE, ...(folder_id !== undefined && { folder_id }) };
      const { doc } = await saveDoc(deps, { ...scope, content } as Parameters<typeof saveDoc>[1], call);
      return doc.id;
    },
    async archive(folder_id) {
      const scope = { workspace_id: WORKSPACE, ...(folder_id !== undefined && { folder_id }) };
      await archiveDoc(deps, scope as Parameters<typeof archiveDoc>[1], call);
    },
    contributed,
    async section(thread_id) {
      const { contributions } = await contributed(thread_id);
      return contributions.find(({ section }) => section.section_id === "agents_md")?.section.content;
    },
  };
}
