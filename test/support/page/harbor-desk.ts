import type { Message, Params, Run, Thread } from "../../../src/protocol/index.js";
import type { ServerStep, ServerTurn } from "../model-server/script.js";
import type { ModelServer } from "../model-server/server.js";
import type { Wire } from "../wire.js";

type Start = Omit<Params<"thread/start">, "workspace_id">;

const ENDED = new Set(["completed", "failed", "cancelled", "interrupted"]);

/** Answers of the scripted model by what it is asked: runs may go on side by side, and each finds its own. */
class Answers {
  readonly #turns = new Map<string, readonly ServerTurn[]>();

  add(asked: string, turns: readonly ServerTurn[]): void {
    this.#turns.set(asked, turns);
  }

  next(body: string): ServerTurn {
    const { messages } = JSON.parse(body) as { messages: { role: string; content: unknown }[] };
    const from = messages.findLastIndex(({ role }) => role === "user");
    const text = JSON.stringify(messages[from]?.content ?? "");
    const step = messages.slice(from).filter(({ role }) => role === "assistant").length;
    const turns = [...this.#turns].findLast(([asked]) => text.includes(JSON.stringify(asked).slice(1, -1)));
    return turns?.[1][step] ?? { steps: [{ text: "Done." }] };
  }
}

/** What `harbor` is built with: a workspace on the public wire, and a model that says what was written for it. */
export class Desk {
  readonly #answers = new Answers();

  constructor(
    readonly wire: Wire,
    readonly model: ModelServer,
    readonly workspace_id: string,
  ) {
    model.play((body) => this.#answers.next(body));
  }

  /** What the model does when it is asked this, one turn a step. */
  script(asked: string, ...turns: readonly (readonly ServerStep[])[]): void {
    this.#answers.add(
      asked,
      turns.map((steps) => ({ steps: [...steps] })),
    );
  }

  async folder(name: string, parent_folder_id?: string): Promise<string> {
    const { workspace_id } = this;
    const made = await this.wire.result("thread/folder/create", { workspace_id, name, parent_folder_id });
    return made.folder.id;
  }

  async thread(params: Start): Promise<Thread> {
    const { workspace_id } = this;
    return (await this.wire.result("thread/start", { workspace_id, ...params })).thread;
  }

  async say(thread_id: string, role: "user" | "agent", content: string): Promise<Message> {
    const { workspace_id } = this;
    const message = { role, content };
    return (await this.wire.result("message/append", { workspace_id, thread_id, message })).message;
  }

  /** Asks, and does not wait. */
  async start(thread_id: string, content: string): Promise<Run> {
    const { workspace_id } = this;
    return (await this.wire.result("run/start", { workspace_id, thread_id, content })).run;
  }

  /** Asks, and has the answer that is given. */
  async answered(thread_id: string, asked: string, steps: readonly ServerStep[] | string): Promise<Run> {
    this.script(asked, typeof steps === "string" ? [{ text: steps }] : steps);
    return this.ended((await this.start(thread_id, asked)).id);
  }

  ended(run_id: string): Promise<Run> {
    return this.until(run_id, ({ status }) => ENDED.has(status));
  }

  /** Waits until a run is told of so. */
  until(run_id: string, isSo: (run: Run) => boolean): Promise<Run> {
    return this.heard(() =>
      this.wire
        .notifications("run/changed")
        .map(({ params }) => params.run)
        .findLast((run) => run.id === run_id && isSo(run)),
    );
  }

  /** Looks again with everything that comes. */
  heard<T>(look: () => T | undefined, withinMs = 30_000): Promise<T> {
    const { socket } = this.wire;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error("harbor: waited in vain"))), withinMs);
      const end = (settle: () => void) => {
        clearTimeout(timer);
        socket.off("message", watch);
        settle();
      };
      const watch = () => {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
      };
      socket.on("message", watch);
      watch();
    });
  }

  /** Calls a tool as a person does. */
  async tool<T>(name: string, given: object): Promise<T> {
    const { workspace_id } = this;
    const result = await this.wire.result("tool/call", { workspace_id, name, arguments: { ...given } });
    if (result.status !== "completed") throw new Error(`${name}: ${result.output}`);
    return JSON.parse(result.output) as T;
  }

  /** Saves an AGENTS.md in each of these versions. */
  async docs(folder_id: string | undefined, ...versions: readonly string[]): Promise<void> {
    const { workspace_id } = this;
    for (const content of versions) {
      const save_reason = content === versions[0] ? "manual" : "autosave";
      await this.wire.result("thread/agents_doc/save", { workspace_id, folder_id, content, save_reason });
    }
  }
}

/** A call of a tool in a turn of the model. */
export function toolCall(id: string, name: string, given: object): ServerStep {
  return { tool_call: { id, name, arguments: JSON.stringify(given) } };
}

export function tokens(input: number, output: number): ServerStep {
  return { usage: { input, output } };
}
