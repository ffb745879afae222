import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AskedPermission,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type PromptMessage,
  type Provider,
  type WorkPlace,
} from "../../src/providers/index.js";
import { temporaryDirectory } from "../support/stores.js";

/** A deed of `fake-claude.mjs`. */
export type Deed = Readonly<Record<string, unknown>>;

export interface FakeScript {
  readonly start?: readonly Deed[];
  readonly turns: readonly (readonly Deed[])[];
  readonly tools?: readonly string[];
  readonly session?: string;
  readonly stubborn?: boolean;
  readonly bridgeErrors?: Readonly<Record<string, string>>;
}

interface Logged {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly pid?: number;
  readonly child?: number;
  readonly got?: Record<string, unknown>;
}

export interface FakeClaude {
  readonly directory: string;
  readonly asked: AskedPermission[];
  answer: PermissionAnswer | Promise<PermissionAnswer>;
  play(script: FakeScript): void;
  /** What a provider is made of. */
  choice(config?: object): Parameters<typeof createProvider>[0];
  provider(config?: object): Provider;
  request(messages: readonly PromptMessage[], work?: Partial<WorkPlace>): GenerateRequest;
  log(): Logged[];
  /** The lines that it was sent, of one type. */
  got(type: string): Record<string, unknown>[];
}

export function fakeClaude(script: FakeScript): FakeClaude {
  const directory = temporaryDirectory();
  const file = join(directory, "script.json");
  const asked: AskedPermission[] = [];
  const play = (next: FakeScript) => writeFileSync(file, JSON.stringify(next));
  play(script);
  const log = (): Logged[] =>
    existsSync(`${file}.log`)
      ? readFileSync(`${file}.log`, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line))
      : [];
  const fake: FakeClaude = {
    directory,
    asked,
    answer: "allow",
    play,
    choice: (config = {}) => ({
      provider: "claude-cli",
      config: {
        command: process.execPath,
        args: [resolve("test/support/programs/fake-claude.mjs")],
        ...config,
      },
      env: { PATH: process.env.PATH, FAKE_CLAUDE: file, ANTHROPIC_API_KEY: "no-real-key" },
    }),
    provider(config) {
      const provider = createProvider(fake.choice(config));
      onTestFinished(() => provider.release?.());
      return provider;
    },
    request(messages, work = {}) {
      const ask = async (what: AskedPermission) => {
        asked.push(what);
        return fake.answer;
      };
      return { model: "default", messages, work: { key: "thread", directory, ownTools: true, ask, ...work } };
    },
    log,
    got: (type) => log().flatMap(({ got }) => (got?.type === type ? [got] : [])),
  };
  return fake;
}

export const SESSION = "11111111-1111-4111-8111-111111111111";
export const session = (told: number) => ({ id: SESSION, told, instructions: "" });

/** What the model streams, as the program passes it on. */
export const stream = (event: Deed, more: Deed = {}): Deed => ({
  line: { type: "stream_event", event, parent_tool_use_id: null, ...more },
});

export const delta = (given: Deed): Deed => stream({ type: "content_block_delta", index: 0, delta: given });

export const said = (...content: readonly Deed[]): Deed => ({
  line: { type: "assistant", message: { model: "m", content }, parent_tool_use_id: null },
});

export const done = (id: string, content: unknown, more: Deed = {}): Deed => ({
  line: {
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content, ...more }] },
    parent_tool_use_id: null,
  },
});

/** Its line does not begin with its type. */
export const result = (more: Deed = {}): Deed => ({
  line: {
    stop_reason: "end_turn",
    is_error: false,
    subtype: "success",
    result: "ok",
    type: "result",
    ...more,
  },
});

export const text = (...fragments: readonly string[]): Deed[] => [
  stream({ type: "message_start", message: { id: "msg_1" } }),
  stream({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
  ...fragments.map((fragment) => delta({ type: "text_delta", text: fragment })),
  said({ type: "text", text: fragments.join("") }),
  stream({ type: "content_block_stop", index: 0 }),
];

export const hello: readonly Deed[] = [...text("Hel", "lo."), result()];
