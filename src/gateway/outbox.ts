import type { Exchange } from "./rpc/peer.js";

/** The way to the other end of a connection. */
export interface Sink {
  /** Calls back when the text has left the process. */
  send(text: string, sent: () => void): void;
  close(code: number, reason: string): void;
}

interface Queued {
  readonly text: string;
  readonly after: Exchange | undefined;
}

/** What is on its way to one client, in order and within bounds. */
export class Outbox {
  readonly #sink: Sink;
  readonly #limit: number;
  readonly #sent: () => void;
  #queue: Queued[] = [];
  /** Characters handed to the sink and not gone yet. */
  #unsent = 0;
  /** Of notifications only, queued ones included: a large answer must not make its reader look slow. */
  #unsentNotes = 0;
  #full = false;

  /** `sent` is called whenever something has gone. */
  constructor(sink: Sink, limit: number, sent: () => void) {
    this.#sink = sink;
    this.#limit = limit;
    this.#sent = sent;
  }

  /** So much waits to be sent that nothing should be made which only adds to it. */
  get full(): boolean {
    return this.#full;
  }

  get empty(): boolean {
    return this.#unsent === 0;
  }

  answer(text: string): void {
    this.#send(text, () => {});
  }

  /** Sends in order, and after the answer to what caused it. False, and not sent: the client does not keep up. */
  notify(text: string, after: Exchange | undefined): boolean {
    if (this.#unsentNotes > this.#limit) return false;
    this.#unsentNotes += text.length;
    this.#queue.push({ text, after });
    this.flush();
    return true;
  }

  /** Sends what is queued, up to the first notification whose cause is not answered yet. */
  flush(): void {
    let count = 0;
    for (const { text, after } of this.#queue) {
      if (after && !after.answered) break;
      this.#send(text, () => {
        this.#unsentNotes -= text.length;
      });
      count++;
    }
    if (count > 0) this.#queue.splice(0, count);
  }

  #send(text: string, sent: () => void): void {
    this.#unsent += text.length;
    if (this.#unsent > this.#limit / 2) this.#full = true;
    this.#sink.send(text, () => {
      this.#unsent -= text.length;
      if (this.#unsent <= this.#limit / 4) this.#full = false;
      sent();
      this.#sent();
    });
  }
}
