import { z } from "zod";
import { defineTool, type ToolDefinition } from "../../src/tools/index.js";

/** A tool whose calls wait until the test lets them go. */
export interface HeldTool {
  readonly tool: ToolDefinition;
  /** The words of the calls that began, in that order. */
  readonly begun: readonly string[];
  /** The words of the calls that were told to stop. */
  readonly stopped: readonly string[];
  /** Resolves when so many calls have begun. */
  began(count: number): Promise<void>;
  /** Lets the call with these words end. */
  release(words: string): void;
}

/** `deaf`: it goes on when it is told to stop. */
export function heldTool(name = "held_work", { deaf = false } = {}): HeldTool {
  const begun: string[] = [];
  const stopped: string[] = [];
  const waiting = new Map<string, () => void>();
  const watchers = new Set<() => void>();
  const tool = defineTool({
    name,
    description: "Works until it is done.",
    parameters: z.strictObject({ words: z.string() }),
    capabilities: ["held.work"],
    safeToRepeat: false,
    run: async ({ words }, { signal }) => {
      begun.push(words);
      for (const look of watchers) look();
      await new Promise<void>((done, stop) => {
        waiting.set(words, done);
        signal.addEventListener("abort", () => {
          stopped.push(words);
          if (!deaf) stop(new Error("told to stop"));
        });
      });
      return { status: "completed" as const, output: `done: ${words}` };
    },
  });
  return {
    tool,
    begun,
    stopped,
    began: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (begun.length < count) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    release: (words) => waiting.get(words)?.(),
  };
}
