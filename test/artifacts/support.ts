import { afterEach, beforeEach, expect } from "vitest";
import { idMaker } from "../../src/base/index.js";
import type { Note, Store } from "../../src/store/index.js";
import {
  artifactPlugins,
  Panels,
  type ToolContext,
  type ToolOutcome,
  ToolRegistry,
} from "../../src/tools/index.js";
import { addWorkspace } from "../contract/support/rows.js";
import { openStage, type Stage } from "../contract/support/stage.js";
import { onEachStore } from "../support/stores.js";
import { clockAt, contextWith } from "../tools/support.js";

export const WORKSPACE = "ws";
export const OTHER = "ws_other";

type Args = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
type Value = any;

/** The artifacts of two workspaces, and everything that was announced. */
export interface Scene {
  readonly store: Store;
  readonly panels: Panels;
  readonly clock: ReturnType<typeof clockAt>;
  readonly notes: Note[];
  outcome(name: string, args?: Args, context?: Partial<ToolContext>): Promise<ToolOutcome>;
  /** A call that must succeed, and what it answered. */
  call(name: string, args?: Args, context?: Partial<ToolContext>): Promise<Value>;
  /** A call that must fail, and its words. */
  refused(name: string, args?: Args, context?: Partial<ToolContext>): Promise<string>;
  /** Changes that were announced since this was last asked: kind, change and id. */
  announced(): string[];
  /** Rows past the tools, for counts that would take long to reach. */
  sql: Stage["sql"];
  registry: ToolRegistry;
}

export function onEachScene(name: string, suite: (scene: () => Scene) => void): void {
  onEachStore(name, (kind) => {
    let stage: Stage;
    let current: Scene;
    beforeEach(async () => {
      stage = await openStage(kind);
      current = sceneOn(stage);
      await stage.store.write({ key: WORKSPACE }, function* () {
        yield* addWorkspace(WORKSPACE);
        yield* addWorkspace(OTHER);
      });
    });
    afterEach(() => stage.end());
    suite(() => current);
  });
}

function sceneOn(stage: Stage): Scene {
  const { store } = stage;
  const clock = clockAt("2026-03-01T12:00:00Z");
  const panels = new Panels();
  const registry = new ToolRegistry();
  for (const plugin of artifactPlugins({ store, clock, makeId: idMaker(clock) }, panels))
    registry.setPlugin(plugin);
  const notes: Note[] = [];
  let seen = 0;
  store.onCommit((commit) => notes.push(...commit.notes));
  const outcome: Scene["outcome"] = async (name, args = {}, context = {}) => {
    const { duration_ms, ...told } = await registry.call(
      name,
      args,
      contextWith({ workspace_id: WORKSPACE, clock, ...context }),
    );
    return told;
  };
  return {
    store,
    panels,
    clock,
    notes,
    registry,
    outcome,
    sql: (statement) => stage.sql(statement),
    async call(name, args, context) {
      const { status, output } = await outcome(name, args, context);
      expect({ status, output }).toEqual({ status: "completed", output });
      return JSON.parse(output);
    },
    async refused(name, args, context) {
      const { status, output } = await outcome(name, args, context);
      expect({ status, output }).toEqual({ status: "failed", output });
      return output;
    },
    announced() {
      const fresh = notes.slice(seen);
      seen = notes.length;
      return fresh.map(({ method, params }) => {
        expect(method).toBe("artifact/changed");
        const { kind, change, id } = JSON.parse(params);
        return `${kind} ${change} ${id}`;
      });
    },
  };
}

/** The titles of a list's items, in their order. */
export async function titles(scene: Scene, list: string): Promise<string[]> {
  const { items } = await scene.call("lists_get", { list, limit: 500 });
  return items.map(({ title }: { title: string }) => title);
}
