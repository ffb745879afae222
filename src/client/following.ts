import type { MethodName, Params, Result } from "../protocol/index.js";
import { CallError } from "./errors.js";
import { SequenceProgress } from "./progress.js";
import { tell } from "./tell.js";

export type Answer = { readonly result: unknown } | { readonly error: Error };

/** Asks the gateway something over the present connection; settles in the moment the answer comes in. */
export type Ask = (method: MethodName, params: object, settle: (answer: Answer) => void) => void;

/** What a call says about where its notifications come from. */
export interface Scope {
  readonly workspace_id?: string | null;
  readonly thread_id?: string | null;
  readonly after_seq?: number | null;
}

interface Told {
  readonly seq?: number;
  readonly resync?: boolean;
  readonly thread?: { readonly workspace_id: string };
}

interface Notified {
  readonly seq?: number;
  readonly workspace_id?: string;
  readonly thread?: { readonly workspace_id: string };
  readonly run?: { readonly workspace_id: string };
}

const RESUME_AGAIN_MS = 500;

/**
 * What the gateway tells this client of, and how far it was heard. A call in a workspace makes the gateway tell of it
 * from then on; a new connection has to ask for that again, and for what was missed between.
 */
export class Following {
  readonly #ask: Ask;
  readonly #progress = new SequenceProgress();
  readonly #resuming = new Set<string>();
  /** Threads whose live stream was asked for. */
  /** With the workspace they were named with, if they were. */
  readonly #threads = new Map<string, string | undefined>();
  readonly #resync = new Set<(workspace_id: string) => void>();
  #connection = 0;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  onResync(listener: (workspace_id: string) => void): () => void {
    this.#resync.add(listener);
    return () => this.#resync.delete(listener);
  }

  /** A call succeeded. Must be told before anything that came in after its answer: that counts from here. */
  answered(method: MethodName, params: Scope, told: Told): void {
    const { thread_id, after_seq } = params;
    const workspace_id = params.workspace_id ?? told.thread?.workspace_id;
    if (thread_id && method === "subscribe") this.#threads.set(thread_id, params.workspace_id ?? undefined);
    if (thread_id && method === "unsubscribe") this.#threads.delete(thread_id);
    if (!workspace_id) {
      if (thread_id && method === "subscribe") this.#learnWorkspace(thread_id, told.seq as number);
    } else if (method === "unsubscribe") this.#progress.forget(workspace_id);
    else if (told.resync) this.#progress.restart(workspace_id, told.seq as number);
    else if (told.seq !== undefined) this.#progress.read(workspace_id, after_seq ?? told.seq);
    else this.#progress.track(workspace_id);
  }

  /** Whether a notification is to be passed on: each once, in order. */
  hears({ seq, workspace_id, thread, run }: Notified): boolean {
    const where = workspace_id ?? thread?.workspace_id ?? run?.workspace_id;
    if (seq === undefined || where === undefined) return true;
    const hearing = this.#progress.hear(where, seq);
    // What is missing is replayed, this one included.
    if (hearing === "gap") this.#resume(where);
    return hearing === "next";
  }

  /** There is a new connection, which knows nothing yet. */
  reconnected(): void {
    this.#connection++;
    for (const workspace_id of this.#progress.workspaces()) this.#resume(workspace_id);
    for (const [thread_id, workspace_id] of this.#threads)
      this.#ask("subscribe", { thread_id, ...(workspace_id && { workspace_id }) }, () => {});
  }

  /** Of a thread that was named alone only the gateway knows the workspace. */
  #learnWorkspace(thread_id: string, seq: number): void {
    this.#ask("thread/get", { thread_id }, (answer) => {
      if ("error" in answer) return;
      this.#progress.read((answer.result as Result<"thread/get">).thread.workspace_id, seq);
    });
  }

  #resume(workspace_id: string): void {
    if (this.#resuming.has(workspace_id)) return;
    this.#resuming.add(workspace_id);
    const after_seq = this.#progress.resumePoint(workspace_id);
    const params: Params<"subscribe"> =
      after_seq === undefined ? { workspace_id } : { workspace_id, after_seq };
    this.#ask("subscribe", params, (answer) => {
      this.#resuming.delete(workspace_id);
      if ("error" in answer) return this.#notResumed(workspace_id, answer.error);
      const { seq, resync } = answer.result as Result<"subscribe">;
      // Without a number to go on from nobody knows what was missed.
      if (!resync && after_seq !== undefined) return;
      this.#progress.restart(workspace_id, seq);
      this.#tellResync(workspace_id);
    });
  }

  /** A workspace that is gone has no more to tell; anything else the gateway says may be better in a moment. */
  #notResumed(workspace_id: string, error: Error): void {
    if (!(error instanceof CallError)) return;
    if (error.kind === "workspace.not_found") {
      this.#progress.forget(workspace_id);
      this.#tellResync(workspace_id);
      return;
    }
    const connection = this.#connection;
    setTimeout(() => {
      if (this.#connection === connection) this.#resume(workspace_id);
    }, RESUME_AGAIN_MS);
  }

  #tellResync(workspace_id: string): void {
    tell(this.#resync, workspace_id);
  }
}
