import { createStore, type StoreApi } from "zustand";
import type { AgentsDoc } from "../../../src/protocol/index.js";
import { normaliseText } from "../../../src/protocol/plain.js";
import type { TextPlace } from "../../state/editor-asked.js";
import { isKind, isRefused, problemOf } from "../../state/errors.js";
import { call, client } from "../../state/gateway.js";
import { adoptText, keepText, scopeKey } from "./doc-kept.js";
import * as doc from "./doc-state.js";

const AUTOSAVE_MS = 700;
const SLOW_MS = 300;
const SAVED_MS = 5_000;

export interface Held {
  readonly state?: doc.DocState | undefined;
  /** Why the document could not be read. */
  readonly failed?: unknown;
  /** When the text that was found unsaved in this browser was written. */
  readonly restoredFrom?: number | undefined;
}

export function storedOf(payload: AgentsDoc | undefined): doc.Stored {
  if (!payload || payload.status === "archived") return doc.NOTHING;
  const { id, version, content, updated_by, updated_at } = payload;
  return { id, version, content, by: updated_by, at: updated_at };
}

/**
 * One document open for editing: it saves what is typed, keeps what is not saved, and hears what others do. It outlives its
 * view until everything in it is saved.
 */
export class DocSession {
  readonly store: StoreApi<Held> = createStore<Held>(() => ({}));
  readonly ws: string;
  readonly folder: string | undefined;
  /** Where somebody was writing when the text was taken away from under them. */
  writingAt: TextPlace | undefined;
  readonly #scope: string;
  readonly #stops: (() => void)[] = [];
  /** Views that show it; undefined before the first, which may come after the document was read. */
  #users: number | undefined;
  #due: ReturnType<typeof setTimeout> | undefined;
  #settle: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  /** Told of before the document was read: the answer may be older than this. */
  #early: doc.Stored | undefined;
  /** The browser refused to keep the text: leaving has to be asked about. */
  #unsafe = false;

  constructor(ws: string, folder: string | undefined) {
    this.ws = ws;
    this.folder = folder;
    this.#scope = scopeKey(ws, folder);
    this.#stops.push(
      client.on("thread/agents_doc/changed", ({ workspace_id, folder_id, doc: told }) => {
        if (workspace_id === ws && folder_id === folder && told) this.#told(storedOf(told));
      }),
      client.onState((state) => state === "open" && void this.look()),
      client.onResync((workspace) => workspace === ws && void this.look(doc.contradicted)),
      onWindow("pagehide", () => this.#leave()),
      onWindow("beforeunload", (event) => this.#unsafe && event.preventDefault()),
      onDocument("visibilitychange", () => document.hidden && void this.save()),
    );
    void this.open();
  }

  get state(): doc.DocState | undefined {
    return this.store.getState().state;
  }

  /** Reads the document, and what an earlier window left unsaved of it. */
  async open(): Promise<void> {
    this.store.setState({ failed: undefined });
    try {
      const stored = await this.#read();
      const kept = await adoptText(this.#scope);
      if (this.#closed || this.state) return;
      const begun = doc.begin(stored, kept);
      const state = this.#early ? doc.told(begun, this.#early) : begun;
      const isBack = kept !== undefined && doc.isDirty(state) && !state.theirs;
      if (isBack) this.store.setState({ restoredFrom: kept.at });
      this.#set(state);
      this.#soon();
    } catch (failed) {
      this.store.setState({ failed });
    }
  }

  edit(text: string): void {
    if (!this.state) return;
    this.#set(doc.edited(this.state, normaliseText(text)));
    this.#soon();
  }

  /** Sends what is unsaved. Settles when it was answered, one way or the other. */
  async save(reason: doc.SaveReason = "autosave"): Promise<void> {
    clearTimeout(this.#due);
    const { state } = this;
    if (!state) return;
    if (reason === "manual" && !doc.isDirty(state) && !state.theirs && state.base.version > 0)
      return this.#saidSaved({ ...state, justSaved: true });
    if (!doc.canSave(state)) return;
    if (client.state !== "open") {
      if (reason === "manual") client.retryNow();
      return this.#set(doc.unanswered(state, NO_ANSWER));
    }
    await this.#send(reason, state.base.version);
  }

  /** Somebody was told that unsaved text is back. */
  toldOfRestored(): void {
    this.store.setState({ restoredFrom: undefined });
  }

  choose(key: string, choice: doc.Choice | undefined): void {
    if (this.state) this.#set(doc.chose(this.state, key, choice));
  }

  /** A conflict was decided with this text. */
  async decide(text: string): Promise<void> {
    if (!this.state) return;
    this.#set(doc.decided(this.state, normaliseText(text)));
    await this.save("manual");
  }

  /** Reads what the gateway has now, and goes on saving where nothing stands against it. */
  async look(take: typeof doc.told = doc.told): Promise<void> {
    if (!this.state) return this.open();
    try {
      const stored = await this.#read();
      this.#set(take(this.state, stored));
      void this.save();
    } catch {
      // With the next connection it is asked again.
    }
  }

  /** Saves everything, then removes the document. */
  async remove(): Promise<doc.Stored> {
    await this.save();
    const before = this.#settledState("deleted").base;
    const { ws: workspace_id, folder: folder_id } = this;
    await call("thread/agents_doc/archive", { workspace_id, folder_id, expected_version: before.version });
    this.#told(doc.NOTHING);
    return before;
  }

  /** Makes a revision the next version; answers what stood there before. */
  async restore(doc_id: string, version: number): Promise<{ before: doc.Stored; after: doc.Stored }> {
    await this.save();
    const before = this.#settledState("restored").base;
    const params = { workspace_id: this.ws, doc_id, version, expected_version: before.version };
    const after = storedOf((await call("thread/agents_doc/restore", params)).doc);
    this.#told(after);
    return { before, after };
  }

  retain(): () => void {
    this.#users = (this.#users ?? 0) + 1;
    return () => {
      this.#users = (this.#users ?? 1) - 1;
      void this.save();
      this.#closeIfDone();
    };
  }

  get closed(): boolean {
    return this.#closed;
  }

  async #send(reason: doc.SaveReason, expected_version: number): Promise<void> {
    const state = doc.sending(this.state as doc.DocState);
    this.#set(state);
    const slowly = setTimeout(() => this.state && this.#set(doc.slow(this.state)), SLOW_MS);
    const { ws: workspace_id, folder: folder_id } = this;
    const params = { workspace_id, folder_id, content: state.mine, expected_version, save_reason: reason };
    try {
      const saved = await call("thread/agents_doc/save", params);
      this.#saidSaved(doc.answered(this.state as doc.DocState, storedOf(saved.doc)));
      this.#soon();
    } catch (error) {
      await this.#notSaved(error);
    } finally {
      clearTimeout(slowly);
    }
  }

  async #notSaved(error: unknown): Promise<void> {
    const now = this.state as doc.DocState;
    if (isKind(error, "version_conflict")) {
      this.#set(doc.unanswered(now));
      return this.look(doc.contradicted);
    }
    if (!isRefused(error))
      return this.#set(doc.unanswered(now, client.state === "open" ? TOO_LATE : NO_ANSWER));
    const { message, code } = problemOf(error);
    this.#set(doc.refused(now, { message: plainly(message, code), code, because: "refused" }));
  }

  async #read(): Promise<doc.Stored> {
    const params = { workspace_id: this.ws, folder_id: this.folder };
    return storedOf((await call("thread/agents_doc/get", params)).explicit);
  }

  #told(stored: doc.Stored): void {
    if (this.state) this.#set(doc.told(this.state, stored));
    else this.#early = stored;
  }

  #settledState(done: string): doc.DocState {
    const { state } = this;
    if (!state || doc.isDirty(state) || state.theirs)
      throw new Error(`Not ${done}: your text is not saved yet.`);
    return state;
  }

  #saidSaved(state: doc.DocState): void {
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => this.state && this.#set(doc.settled(this.state)), SAVED_MS);
    this.#set(state);
  }

  #soon(): void {
    clearTimeout(this.#due);
    this.#due = setTimeout(() => void this.save(), AUTOSAVE_MS);
  }

  #set(state: doc.DocState): void {
    this.#unsafe = !keepText(this.#scope, state);
    this.store.setState({ state });
    this.#closeIfDone();
  }

  #leave(): void {
    void this.save();
    keepText(this.#scope, this.state, true);
  }

  #closeIfDone(): void {
    const { state } = this;
    if (this.#users !== 0 || this.#closed || !state || doc.isDirty(state) || state.theirs || state.sent)
      return;
    // A view that is only being replaced comes back within the same moment.
    setTimeout(() => {
      if (this.#users !== 0 || this.#closed || doc.isDirty(this.state as doc.DocState)) return;
      this.#closed = true;
      clearTimeout(this.#due);
      clearTimeout(this.#settle);
      for (const stop of this.#stops) stop();
    });
  }
}

const NO_ANSWER: doc.DocProblem = { message: "the gateway does not answer.", because: "link" };
const TOO_LATE: doc.DocProblem = { message: "the gateway took too long.", because: "refused" };

/** As the sentence `Not saved: …` goes on. */
function plainly(message: string, code: string | undefined): string {
  if (code === "store.full") return "the disk is full.";
  return message.charAt(0).toLowerCase() + message.slice(1);
}

function onWindow<K extends keyof WindowEventMap>(name: K, listener: (event: WindowEventMap[K]) => void) {
  addEventListener(name, listener);
  return () => removeEventListener(name, listener);
}

function onDocument<K extends keyof DocumentEventMap>(name: K, listener: () => void) {
  document.addEventListener(name, listener);
  return () => document.removeEventListener(name, listener);
}
