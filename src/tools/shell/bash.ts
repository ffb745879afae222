import { stat } from "node:fs/promises";
import { z } from "zod";
import { failed } from "../outcome.js";
import type { Plugin } from "../plugin.js";
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutcome } from "../tool.js";
import { KeptOutput } from "./kept-output.js";
import { type Exit, runShell } from "./run.js";
import { showOutput } from "./shown-output.js";

const DEFAULT_SECONDS = 120;
const MOST_SECONDS = 600;
/** The system takes no more as one argument. */
const MOST_COMMAND_BYTES = 100_000;
/** Together with the marker between them and the note below them they fit into an output. */
const KEPT = { head: 20 * 1024, tail: 40 * 1024 };

/** What a command sees of the environment, decided by whoever puts the parts together. */
export interface CommandEnvironment {
  /** Called for each command; `end` once that is over, however it ends. */
  environment(context: ToolContext): Promise<{ readonly env: NodeJS.ProcessEnv; end(): void }>;
}

export function bashPlugin(given: CommandEnvironment): Plugin {
  return {
    id: "bash",
    title: "Shell",
    description: "Runs shell commands in the workspace's directory. It is no sandbox.",
    tools: [bashTool(given)],
  };
}

function bashTool({ environment }: CommandEnvironment): ToolDefinition {
  return defineTool({
    name: "bash",
    title: "Run a command",
    description: `Runs a shell command (bash) in the workspace's directory and answers what it wrote, and its exit code. It is no sandbox: it can do whatever the user who runs Heddle can, anywhere on the machine. Nothing can be typed in, and what it leaves running in the background is ended with it. At most ${MOST_SECONDS} seconds.`,
    parameters: z.strictObject({
      command: z
        .string()
        .min(1)
        .refine((text) => !text.includes("\0"), "contains a NUL character")
        .refine((text) => text.isWellFormed(), "contains half a character (a lone surrogate)")
        .refine(
          (text) => Buffer.byteLength(text) <= MOST_COMMAND_BYTES,
          `is longer than ${MOST_COMMAND_BYTES} bytes: write a file and run that`,
        )
        .describe("the command, or a script of several lines"),
      timeout_seconds: z
        .int()
        .min(1)
        .max(MOST_SECONDS)
        .optional()
        .describe(`when to end it if it has not ended; default ${DEFAULT_SECONDS}`),
      description: z
        .string()
        .max(200)
        .optional()
        .describe("what it does, in a few words, for the person who is asked"),
    }),
    capabilities: ["bash"],
    safeToRepeat: false,
    asks: true,
    async run({ command, timeout_seconds = DEFAULT_SECONDS }, context) {
      const cwd = await directoryOf(context);
      if (cwd === undefined) return failed(NO_DIRECTORY);
      const { env, end } = await environment(context);
      try {
        context.signal.throwIfAborted();
        return await attempt({ command, cwd, env, seconds: timeout_seconds }, context);
      } finally {
        end();
      }
    },
  });
}

const NO_DIRECTORY =
  "The workspace has no directory, or it is not there any more, so there is nowhere to run a command. Nothing was done.";

async function directoryOf({ directory }: ToolContext): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const there = await stat(directory).catch(() => undefined);
  return there?.isDirectory() ? directory : undefined;
}

async function attempt(
  given: { command: string; cwd: string; env: NodeJS.ProcessEnv; seconds: number },
  { signal, progress }: ToolContext,
): Promise<ToolOutcome> {
  const kept = new KeptOutput(KEPT);
  const shown = showOutput(progress);
  try {
    const exit = await runShell({
      ...given,
      timeoutMs: given.seconds * 1_000,
      signal,
      onOutput(chunk) {
        kept.add(chunk);
        shown.add(chunk);
      },
    });
    return outcomeOf(exit, kept, given.seconds);
  } finally {
    shown.end();
  }
}

function outcomeOf(exit: Exit, kept: KeptOutput, seconds: number): ToolOutcome {
  const { text, cut } = kept.text();
  const said = text === "" ? "(no output)" : text.replace(/\n$/, "");
  const left = exit.leftRunning ? "\n[What it had left running in the background was ended.]" : "";
  return {
    status: exit.code === 0 && !exit.timedOut ? "completed" : "failed",
    output: `${said}\n[${howItEnded(exit, seconds)}]${left}`,
    ...(cut && { truncated: true }),
  };
}

function howItEnded({ code, signal, timedOut }: Exit, seconds: number): string {
  if (timedOut) {
    return `not done after ${seconds} seconds: it was ended with all it had started. What it had done until then stands`;
  }
  return code === null ? `ended by ${signal}` : `exit code ${code}`;
}
