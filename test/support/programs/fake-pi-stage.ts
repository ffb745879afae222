import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AskedPermission,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type PromptMessage,
  type Provider,
  type ProviderEvent,
  type WorkPlace,
} from "../../../src/providers/index.js";

export type Step = Readonly<Record<string, unknown>>;

export interface FakeTurn {
  readonly steps?: readonly Step[];
  /** After `agent_end`. */
  readonly after?: readonly Step[];
  /** The turn never ends. */
  readonly open?: boolean;
  /** The extension is sure that nothing follows. */
  readonly over?: boolean;
  readonly refused?: string;
  readonly command?: boolean;
  readonly unasked?: boolean;
}

export interface FakeScript {
  readonly start?: Step;
  readonly session?: string;
  readonly turns?: readonly FakeTurn[];
}

export interface Logged {
  readonly argv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly pid?: number;
  readonly mode?: number;
  readonly extension?: string;
  readonly heard?: Readonly<Record<string, unknown>>;
  readonly offer?: Readonly<Record<string, unknown>>;
  readonly may?: string;
  readonly dialog?: Readonly<Record<string, unknown>>;
  readonly child?: number;
}

/** A place with a fake pi in it, which does what a script says. */
export class PiStage {
  readonly home: string;
  readonly directory: string;
  readonly asked: AskedPermission[] = [];
  readonly provider: Provider;
  answer: () => Promise<PermissionAnswer> = async () => "allow";

  constructor(home: string, config: Readonly<Record<string, unknown>>) {
    this.home = home;
    this.directory = join(home, "work");
    const fake = { command: process.execPath, args: [resolve("test/support/programs/fake-pi.mjs")] };
    const env = { PATH: process.env.PATH, HOME: home, FAKE_PI: home, SOME_API_KEY: "very-secret" };
    this.provider = createProvider({ provider: "pi-cli", config: { ...fake, ...config }, env });
    onTestFinished(() => this.provider.release?.());
  }

  async play(script: FakeScript): Promise<void> {
    const turns = (script.turns ?? []).map((turn) => ({ steps: [], ...turn }));
    await writeFile(join(this.home, "script.json"), JSON.stringify({ ...script, turns }));
  }

  request(messages: readonly PromptMessage[], work: Partial<WorkPlace> = {}): GenerateRequest {
    const ask = (asked: AskedPermission) => {
      this.asked.push(asked);
      return this.answer();
    };
    const { directory } = this;
    return { model: "some/model", messages, work: { key: "t", directory, ownTools: true, ask, ...work } };
  }

  turn(messages: readonly PromptMessage[], work: Partial<WorkPlace> = {}): Promise<ProviderEvent[]> {
    return all(this.provider.generate(this.request(messages, work)));
  }

  /** What the fake has written down, of all of its processes. */
  logged(): Logged[] {
    const file = join(this.home, "log.jsonl");
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Logged);
  }

  starts(): Logged[] {
    return this.logged().filter(({ argv }) => argv !== undefined);
  }

  offers() {
    return this.logged().flatMap(({ offer }) => (offer ? [offer] : []));
  }

  prompts() {
    return this.logged().flatMap(({ heard }) => (heard?.type === "prompt" ? [heard] : []));
  }
}

export async function piStage(
  script: FakeScript,
  config: Readonly<Record<string, unknown>> = {},
): Promise<PiStage> {
  const home = await mkdtemp(join(tmpdir(), "heddle-fake-pi-"));
  onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
  await mkdir(join(home, "work"));
  const stage = new PiStage(home, config);
  await stage.play(script);
  return stage;
}

export async function all(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const list: ProviderEvent[] = [];
  for await (const event of events) list.push(event);
  return list;
}

export const system = (content: string): PromptMessage => ({ role: "system", content });
export const user = (content: string): PromptMessage => ({ role: "user", content });
export const assistant = (content: string): PromptMessage => ({ role: "assistant", content });

/** An answer of pi, as it streams it. */
export function answer(text: string, { usage, stopReason = "stop", ...more }: Step = {}): Step[] {
  const message = { role: "assistant", content: [{ type: "text", text }], stopReason, ...more };
  return [
    { type: "message_start", message: { role: "assistant", content: [] } },
    { type: "message_update", assistantMessageEvent: { type: "text_start", contentIndex: 0 } },
    { type: "message_update", assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta: text } },
    { type: "message_end", message: { ...message, ...(usage ? { usage } : {}) } },
  ];
}
