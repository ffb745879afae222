import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished } from "vitest";
import { sha256 } from "../../../src/base/index.js";
import {
  type AskedPermission,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type Provider,
  type ProviderEvent,
  type WorkPlace,
} from "../../../src/providers/index.js";

export type Message = GenerateRequest["messages"][number];
export type Step = Readonly<Record<string, unknown>>;

interface Play {
  readonly turns?: readonly (readonly Step[])[];
  readonly before?: readonly Step[];
  readonly answers?: Readonly<Record<string, object>>;
  readonly stubborn?: boolean;
  readonly policy?: string;
}

interface Heard {
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: unknown;
  readonly error?: unknown;
  readonly started?: number;
  readonly argv?: readonly string[];
  readonly env?: readonly string[];
  readonly stray?: number;
}

const FAKE = resolve("test/support/programs/fake-codex.mjs");
export const SECRET = "sk-fake-0123456789";

/** The provider with the fake behind it, and everything the fake was told. */
export class CodexStage {
  readonly asked: AskedPermission[] = [];
  answer: PermissionAnswer = "allow";
  #provider: Provider | undefined;

  constructor(
    readonly folder: string,
    readonly config: object,
  ) {}

  get provider(): Provider {
    this.#provider ??= createProvider({
      provider: "codex-cli",
      config: { command: process.execPath, args: [FAKE], ...this.config },
      env: { PATH: process.env.PATH, FAKE_CODEX: this.folder, FAKE_KEY: SECRET },
    });
    return this.#provider;
  }

  play(given: Play): void {
    writeFileSync(join(this.folder, "script.json"), JSON.stringify({ turns: [], ...given }));
  }

  /** As if Heddle had been started anew. */
  async startAnew(): Promise<void> {
    await this.#provider?.release?.();
    this.#provider = undefined;
  }

  request(
    messages: readonly Message[],
    more: Partial<WorkPlace> = {},
  ): GenerateRequest & { work: WorkPlace } {
    const ask = async (asked: AskedPermission) => {
      this.asked.push(asked);
      return this.answer;
    };
    const work = { key: "thread", directory: this.folder, ownTools: true, ask, ...more };
    return { model: "gpt-5.5", messages, work };
  }

  async ask(messages: readonly Message[], more: Partial<WorkPlace> = {}): Promise<ProviderEvent[]> {
    return collect(this.provider, this.request(messages, more));
  }

  heard(method?: string): Heard[] {
    const file = join(this.folder, "heard.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    const all = lines.map((line) => JSON.parse(line) as Heard);
    return method === undefined ? all : all.filter((one) => one.method === method);
  }

  /** Its processes, in the order of their start. */
  pids(): number[] {
    return this.heard().flatMap(({ started }) => started ?? []);
  }
}

export async function codexStage(play: Play = {}, config: object = {}): Promise<CodexStage> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "heddle-codex-")));
  const stage = new CodexStage(folder, config);
  stage.play(play);
  onTestFinished(async () => {
    await stage.startAnew();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return stage;
}

export async function collect(
  provider: Provider,
  request: GenerateRequest,
  signal?: AbortSignal,
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const event of provider.generate(request, signal ? { signal } : {})) events.push(event);
  const ends = events.filter(({ type }) => type === "finish" || type === "failed" || type === "aborted");
  expect(ends).toEqual([events.at(-1)]);
  return events;
}

export function ofType<T extends ProviderEvent["type"]>(events: readonly ProviderEvent[], type: T) {
  return events.filter((event) => event.type === type) as Extract<ProviderEvent, { type: T }>[];
}

export const user = (content: string): Message => ({ role: "user", content });
export const agent = (content: string): Message => ({ role: "assistant", content });
export const system = (content: string): Message => ({ role: "system", content });

/** The session that a turn was in, for the next one. */
export function sessionOf(events: readonly ProviderEvent[], told: number, instructions: string) {
  const [session] = ofType(events, "session");
  return { session: { id: session?.id ?? "", told, instructions: sha256(instructions) } };
}

export const delivery = (events: readonly ProviderEvent[]) => ofType(events, "request").at(-1)?.delivery;

export const note = (method: string, params: object = {}): Step => ({ note: method, params });
export const says = (itemId: string, delta: string) => note("item/agentMessage/delta", { itemId, delta });
export const began = (item: object) => note("item/started", { item });
export const ended = (item: object) => note("item/completed", { item });
export const done = note("turn/completed");

/** A turn that says something. */
export const saying = (text: string): Step[] => [says("msg_0", text), done];

const counts = { cachedInputTokens: 0, cacheWriteInputTokens: 0, reasoningOutputTokens: 0 };
export const used = (totalTokens: number, last: object) =>
  note("thread/tokenUsage/updated", {
    tokenUsage: { total: { totalTokens }, last: { ...counts, inputTokens: 0, outputTokens: 0, ...last } },
  });

/** A command as codex tells it. */
export const command = (id: string, more: object = {}) => ({
  type: "commandExecution",
  id,
  command: "/bin/bash -lc 'make it'",
  cwd: "/work",
  processId: null,
  source: "agent",
  status: "inProgress",
  commandActions: [],
  aggregatedOutput: null,
  exitCode: null,
  durationMs: null,
  ...more,
});
