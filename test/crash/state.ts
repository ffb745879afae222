import type { Message, Result, Run } from "../../src/protocol/index.js";
import type { TreeState } from "./ledger.js";
import type { Line } from "./line.js";

type Tree = Result<"thread/tree">;
type ThreadInTree = Tree["threads"][number];

/** What a gateway says there is, read when it is asked for and kept. */
export class State implements TreeState {
  readonly threads: ReadonlyMap<string, ThreadInTree>;
  readonly folders: ReadonlyMap<string, Tree["folders"][number]>;
  readonly #messages = new Map<string, Promise<Message[]>>();
  #runs: Promise<Map<string, Run>> | undefined;

  private constructor(
    readonly line: Line,
    readonly workspace_id: string,
    readonly tree: Tree,
  ) {
    this.threads = new Map(tree.threads.map((thread) => [thread.id, thread]));
    this.folders = new Map(tree.folders.map((folder) => [folder.id, folder]));
  }

  static async read(line: Line, workspace_id: string): Promise<State> {
    return new State(line, workspace_id, await line.call("thread/tree", { workspace_id }));
  }

  async texts(thread_id: string): Promise<string[]> {
    return this.threads.has(thread_id) ? (await this.messages(thread_id)).map(textOf) : [];
  }

  /** Every message of a thread, oldest first. */
  messages(thread_id: string): Promise<Message[]> {
    const found = this.#messages.get(thread_id) ?? this.#readMessages(thread_id);
    this.#messages.set(thread_id, found);
    return found;
  }

  /** Every run of the workspace. */
  runs(): Promise<Map<string, Run>> {
    this.#runs ??= this.#readRuns();
    return this.#runs;
  }

  async #readMessages(thread_id: string): Promise<Message[]> {
    const { workspace_id } = this;
    const all: Message[] = [];
    let cursor: string | undefined;
    do {
      const params = { workspace_id, thread_id, order: "asc" as const, limit: 500, cursor };
      const page = await this.line.call("thread/messages", params);
      all.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return all;
  }

  async #readRuns(): Promise<Map<string, Run>> {
    const { workspace_id } = this;
    const all = new Map<string, Run>();
    let cursor: string | undefined;
    do {
      const page = await this.line.call("run/list", { workspace_id, order: "created", limit: 500, cursor });
      for (const run of page.data) all.set(run.id, run);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    return all;
  }
}

export function textOf({ content }: Message): string {
  return content.map((block) => (block.type === "text" ? String(block.text) : "")).join("");
}
