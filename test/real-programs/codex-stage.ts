import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { sha256 } from "../../src/base/index.js";
import {
  type AskedPermission,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type Provider,
  type ProviderEvent,
  type WorkPlace,
} from "../../src/providers/index.js";
import { type McpHttpServer, startMcpHttp } from "../support/mcp-http.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { cleanEnv, cleanHome, programPath } from "./support.js";

export type Message = GenerateRequest["messages"][number];
type Body = {
  readonly tools?: readonly Tool[];
  readonly input: readonly (Record<string, unknown> & { readonly type: string })[];
};
type Tool = {
  readonly name?: string;
  readonly type: string;
  readonly tools?: readonly Tool[];
  readonly description?: string;
};

export const KEY = "sk-fake-0123456789";

export class Stage {
  readonly asked: AskedPermission[] = [];
  answer: PermissionAnswer = "allow";

  constructor(
    readonly server: ModelServer,
    readonly home: string,
    readonly directory: string,
    public provider: Provider,
  ) {}

  work(more: Partial<WorkPlace> = {}): WorkPlace {
    return {
      key: "thread",
      directory: this.directory,
      ownTools: true,
      ask: async (asked) => {
        this.asked.push(asked);
        return this.answer;
      },
      ...more,
    };
  }

  async ask(
    messages: readonly Message[],
    more: Partial<WorkPlace> = {},
    model = "gpt-5.5",
  ): Promise<ProviderEvent[]> {
    const events: ProviderEvent[] = [];
    const request = { model, messages, work: this.work(more) };
    for await (const event of this.provider.generate(request)) events.push(event);
    return events;
  }

  body(at = -1): Body {
    return JSON.parse(this.server.requests.at(at)?.body ?? "null") as Body;
  }

  /** As if Heddle had been started anew. */
  async startAnew(): Promise<void> {
    await this.provider.release?.();
    this.provider = providerIn(this.home);
  }
}

function providerIn(home: string): Provider {
  const env = cleanEnv(home, { CODEX_HOME: join(home, ".codex"), FAKE_KEY: KEY });
  return createProvider({ provider: "codex-cli", config: { command: programPath("codex") }, env });
}

export async function stage(turns: readonly ServerTurn[] = [said("ok")], toml = ""): Promise<Stage> {
  const server = await startModelServer(turns);
  const home = await cleanHome();
  const directory = await realpath(await mkdtemp(join(tmpdir(), "heddle-work-")));
  await mkdir(join(home, ".codex"));
  const config = `model_provider="fake"\nmodel="gpt-5.5"\n[model_providers.fake]\nname="fake"\nbase_url="${server.url}/v1"\nenv_key="FAKE_KEY"\nwire_api="responses"\n${toml}`;
  await writeFile(join(home, ".codex/config.toml"), config);
  const made = new Stage(server, home, directory, providerIn(home));
  onTestFinished(async () => {
    await made.provider.release?.();
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });
  return made;
}

export const said = (text: string): ServerTurn => ({
  repeat: true,
  steps: [{ text: [text] }, { usage: { input: 10, output: 5, cached_input: 3, reasoning: 1 } }],
});
export const calls = (id: string, name: string, given: object): ServerTurn => ({
  steps: [{ tool_call: { id, name, arguments: JSON.stringify(given) } }],
});
export const item = (done: object): ServerTurn => ({
  steps: [{ name: "response.output_item.done", event: { type: "response.output_item.done", item: done } }],
});
export const patches = (id: string, input: string): ServerTurn =>
  item({ type: "custom_tool_call", id: `ct_${id}`, call_id: id, name: "apply_patch", input });
export const bridged = (id: string, name: string): ServerTurn =>
  item({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    namespace: "mcp__heddle",
    name,
    arguments: "{}",
  });

export const user = (content: string): Message => ({ role: "user", content });
export const agent = (content: string): Message => ({ role: "assistant", content });
export const system = (content: string): Message => ({ role: "system", content });

export function ofType<T extends ProviderEvent["type"]>(events: readonly ProviderEvent[], type: T) {
  return events.filter((event) => event.type === type) as Extract<ProviderEvent, { type: T }>[];
}

export function sessionOf(events: readonly ProviderEvent[], told: number, instructions: string) {
  const [session] = ofType(events, "session");
  return { session: { id: session?.id ?? "", told, instructions: sha256(instructions) } };
}

export const delivery = (events: readonly ProviderEvent[]) => ofType(events, "request").at(-1)?.delivery;
export const times = (stage: Stage, text: string) =>
  (stage.server.requests.at(-1)?.body ?? "").split(text).length - 1;
export const end = (events: readonly ProviderEvent[]) => events.at(-1);
export const users = (body: Body) =>
  body.input
    .filter(({ role }) => role === "user")
    .map(({ content }) => (content as { text: string }[]).map(({ text }) => text).join(""));

/** Every tool that the model is offered, those of namespaces and those that its JavaScript can call included. */
export function offered({ tools, input }: Body): string[] {
  const all = tools ?? (input[0]?.tools as readonly Tool[]) ?? [];
  return all.flatMap(({ name, type, tools: inner }) =>
    inner ? inner.map((one) => `${name}.${one.name}`) : [name ?? type],
  );
}

export function nested({ input }: Body): string[] {
  const text = JSON.stringify(input[0]?.tools ?? "");
  return [...new Set([...text.matchAll(/### `([a-z_A-Z0-9]+)`/g)].map(([, name]) => name ?? ""))];
}

export async function bridge(): Promise<{ mcp: McpHttpServer; bridge: NonNullable<WorkPlace["bridge"]> }> {
  const mcp = await startMcpHttp({ tools: [{ name: "notes_add" }, { name: "broken", does: "fail" }] });
  onTestFinished(() => mcp.stop());
  return { mcp, bridge: { url: mcp.url, token: "bridge-token", command: "heddle", args: [], env: {} } };
}
