import { readArguments } from "./arguments.js";
import { acceptOutcome, failed } from "./outcome.js";
import type { ToolContext, ToolDefinition, ToolOutcome } from "./tool.js";
import { wordsOf } from "./words-of.js";

/** Calls a tool. It settles as soon as the signal fires, whatever the tool does meanwhile, and never rejects. */
export async function callTool(
  tool: ToolDefinition,
  given: string | Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const { signal, directory } = context;
  if (signal.aborted) return failed(`${tool.name} was cancelled before it began. Nothing was done.`);
  try {
    return await unlessAborted(work(tool, given, context), signal);
  } catch (error) {
    if (signal.aborted) {
      return failed(`${tool.name} was cancelled before it had ended. What it had done until then stands.`);
    }
    return failed(`${tool.name} failed${wordsOf(error, directory)}`);
  }
}

async function work(
  tool: ToolDefinition,
  given: string | Record<string, unknown>,
  context: ToolContext,
): Promise<ToolOutcome> {
  const args = await readArguments(tool, given);
  if ("problem" in args) return failed(args.problem);
  // A check of arguments can take its time: nothing may begin after the outcome was told.
  context.signal.throwIfAborted();
  return acceptOutcome(tool, await tool.run(args.values, context));
}

function unlessAborted<T>(working: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("cancelled"));
    signal.addEventListener("abort", giveUp);
    const over = () => signal.removeEventListener("abort", giveUp);
    working.finally(over).then(resolve, reject);
  });
}
