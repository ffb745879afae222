import { expect } from "vitest";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "../../src/tools/index.js";
import { requestsOf, type WireMessage } from "../support/agents.js";
import type { ServerTurn } from "../support/model-server/script.js";
import type { RunScene } from "../support/runs.js";

/** Tools that leave a trace of every call that gets through. */
export class Traps {
  readonly sprung: string[] = [];

  tool(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
    return defineTool({
      name,
      description: `Does ${name}.`,
      parameters: z.object({ word: z.string().optional() }),
      capabilities: [name.replace("_", ".")],
      safeToRepeat: true,
      run: ({ word }) => {
        this.sprung.push(`${name} ${word ?? ""}`.trim());
        return { status: "completed", output: `did ${name}` };
      },
      ...more,
    });
  }
}

export type Call = readonly [name: string, given?: object];

/** One step that makes all of these calls, as `call_0`, `call_1` … */
export function step(...all: readonly Call[]): ServerTurn {
  return {
    steps: all.map(([name, given = {}], at) => ({
      tool_call: { id: `call_${at}`, name, arguments: JSON.stringify(given) },
    })),
  };
}

/** What a model was told of its calls, in their order. */
export function toldOf({ model }: RunScene, agentId: string, count: number): string[] {
  const messages = requestsOf(model, agentId).at(-1)?.messages ?? [];
  const answers = messages.filter(({ role }: WireMessage) => role === "tool").slice(-count);
  return answers.map(({ content }) => String(content));
}

/** What the transcript and the journal keep of the calls of a thread's last run. Both say the same of each. */
export async function recorded(scene: RunScene, thread_id: string) {
  const [run] = (await scene.runs(thread_id)).slice(-1);
  const calls = (await scene.messages(thread_id)).at(-1)?.toolCalls ?? [];
  const journal = await scene.journal(run?.id ?? "");
  const asked = journal.flatMap((event) => (event as { calls?: { name: string }[] }).calls ?? []);
  expect(asked.map(({ name }) => name).slice(-calls.length)).toEqual(calls.map(({ name }) => name));
  return calls.map(({ name, status, output }) => ({
    name: String(name),
    status: String(status),
    output: String(output),
  }));
}

export const request = (method: string, params: object = {}, id = 1) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});
