import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AskedPermission,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type PromptMessage,
  type ProviderEvent,
  type WorkPlace,
} from "../../../src/providers/index.js";

const FAKE = resolve("test/support/programs/fake-acp.mjs");

export const system = (content: string): PromptMessage => ({ role: "system", content });
export const user = (content: PromptMessage["content"]): PromptMessage => ({ role: "user", content });
export const assistant = (content: string): PromptMessage => ({ role: "assistant", content });
export const says = (text: string) => ({
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
});

interface Heard {
  readonly started?: number;
  readonly child?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly policy?: string;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: what the agent was sent, as it came
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: what it was answered, as it came
  readonly answer?: any;
}

interface Options {
  readonly config?: object;
  readonly env?: Record<string, string>;
  /** The command has this name instead of being run by node. */
  readonly named?: string;
}

/** A fake agent with its script, behind the provider. */
export async function acpStage(script: object, { config = {}, env = {}, named }: Options = {}) {
  const home = await mkdtemp(join(tmpdir(), "heddle-fake-acp-"));
  const directory = join(home, "project");
  await mkdir(directory);
  const file = join(home, "script.json");
  const log = join(home, "log");
  await writeFile(file, JSON.stringify(script));
  await writeFile(log, "");
  const command = named === undefined ? process.execPath : join(home, named);
  if (named !== undefined) {
    await writeFile(command, `#!/bin/sh\nexec "${process.execPath}" "${FAKE}" "$@"\n`);
    await chmod(command, 0o755);
  }
  const provider = createProvider({
    provider: "acp",
    config: { command, args: named === undefined ? [FAKE, "acp"] : ["acp"], ...config },
    env: { PATH: process.env.PATH, FAKE_ACP: file, FAKE_ACP_LOG: log, ...env },
  });
  onTestFinished(async () => {
    await provider.release?.();
    await rm(home, { recursive: true, force: true });
  });
  const asked: AskedPermission[] = [];
  const place = (work: Partial<WorkPlace>, answer: PermissionAnswer): WorkPlace => ({
    key: "k",
    directory,
    ownTools: true,
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
    ...work,
  });
  type More = Omit<Partial<GenerateRequest>, "work"> & {
    readonly work?: Partial<WorkPlace>;
    readonly answer?: PermissionAnswer;
    readonly signal?: AbortSignal;
  };
  const events = (messages: readonly PromptMessage[], more: More = {}) => {
    const { work = {}, answer = "allow", signal, ...rest } = more;
    const request = { model: "default", messages, ...rest, work: place(work, answer) };
    return provider.generate(request, signal ? { signal } : {});
  };
  return {
    provider,
    directory,
    asked,
    events,
    script: (next: object) => writeFile(file, JSON.stringify(next)),
    async turn(messages: readonly PromptMessage[], more: More = {}): Promise<ProviderEvent[]> {
      const all: ProviderEvent[] = [];
      for await (const event of events(messages, more)) all.push(event);
      return all;
    },
    async heard(): Promise<Heard[]> {
      const lines = (await readFile(log, "utf8")).split("\n").filter((line) => line !== "");
      return lines.map((line) => JSON.parse(line) as Heard);
    },
    /** What it was sent by this method, in order. */
    async sent(method: string): Promise<Heard["params"][]> {
      return (await this.heard()).filter((one) => one.method === method).map(({ params }) => params);
    },
  };
}

export function ofType<T extends ProviderEvent["type"]>(events: readonly ProviderEvent[], type: T) {
  return events.filter((event): event is Extract<ProviderEvent, { type: T }> => event.type === type);
}

export function textIn(events: readonly ProviderEvent[]): string {
  return ofType(events, "text")
    .map(({ text }) => text)
    .join("");
}
