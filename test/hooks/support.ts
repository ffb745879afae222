import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type Contribution,
  type HookPackage,
  HookRuntime,
  type HookRuntimeOptions,
  type PhaseResult,
} from "../../src/hooks/index.js";
import { temporaryDirectory } from "../support/stores.js";

export type Subscription = HookPackage["subscriptions"][number];

export const PRE = "turn.pre_prompt_compile";
export const POST = "turn.post_prompt_compile";
export const TURN = "turn.post_turn";

export const context = { workspace_id: "ws_1", thread_id: "thr_1" };

/** A runtime that is closed with the test. */
export function runtime(options: HookRuntimeOptions = {}): HookRuntime {
  const made = new HookRuntime(options);
  onTestFinished(() => made.close());
  return made;
}

/** A hook of `turn.pre_prompt_compile` that contributes its own id unless told otherwise. */
export function hook(hook_id: string, more: Partial<Subscription> = {}): Subscription {
  return { hook_id, phase: PRE, run: () => ({ contributions: [section(hook_id)] }), ...more };
}

/** A package that may make every kind of contribution. */
export function pack(id: string, ...subscriptions: Subscription[]): HookPackage {
  return { id, contributes: ["prompt_section", "diagnostic"], subscriptions };
}

export function section(section_id: string, more: Partial<Contribution> = {}): Contribution {
  return {
    kind: "prompt_section",
    section_id,
    title: section_id,
    content: `text of ${section_id}`,
    ...more,
  } as Contribution;
}

export function sectionIds({ contributions }: PhaseResult): string[] {
  return contributions.map(({ section: { section_id } }) => section_id);
}

/** Something that a test decides when to let through. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Settles when a signal fires. */
export function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve());
  });
}

/** Looks again and again until it is so; the test's own time limit is the end of patience. */
export async function until<T>(look: () => T | undefined | false): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Why a promise was rejected. */
export async function refusal(
  work: Promise<unknown> | (() => unknown),
): Promise<{ kind: string; data: unknown; message: string }> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    return error as { kind: string; data: unknown; message: string };
  }
  throw new Error("it was not refused");
}

/** A file in a directory of its own. */
export function file(name: string, text: string, directory = temporaryDirectory()): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

/** The last failures of a hook, the newest first. */
export function failuresOf(hooks: HookRuntime, hook_id: string) {
  const all = hooks.list().flatMap(({ subscriptions }) => subscriptions);
  return all.find((one) => one.hook_id === hook_id)?.failures ?? { total: -1, last: [] };
}
