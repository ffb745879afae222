import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Client, type ClientOptions } from "./client.js";
import { NoAnswerError } from "./errors.js";
import type { TransportEvents } from "./transport.js";

interface Sent {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** The other end of a client's connections, played by hand. */
class Far {
  readonly sent: Sent[] = [];
  opened = 0;
  events: TransportEvents | undefined;
  readonly client: Client;

  constructor(options: Partial<ClientOptions> = {}) {
    this.client = new Client({
      ...options,
      open: (events) => {
        this.opened++;
        this.events = events;
        return {
          send: (text) => this.sent.push(JSON.parse(text)),
          close: () => events.closed("closed by us"),
        };
      },
    });
  }

  open(): void {
    this.events?.open();
  }

  lose(why = "the line is cut"): void {
    this.events?.closed(why);
  }

  answer(result: unknown, { id } = this.last()): void {
    this.events?.message(JSON.stringify({ jsonrpc: "2.0", id, result }));
  }

  refuse(kind: string, code = -32600, { id } = this.last()): void {
    const error = { code, message: kind, data: { kind } };
    this.events?.message(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }

  tell(seq: number, workspace_id = "ws_1"): void {
    const params = { workspace_id, seq };
    this.events?.message(JSON.stringify({ jsonrpc: "2.0", method: "thread/tree/changed", params }));
  }

  last(): Sent {
    return this.sent.at(-1) as Sent;
  }

  /** Method and params of what was sent since the last look. */
  looked(): [string, unknown][] {
    return this.sent.splice(0).map(({ method, params }) => [method, params]);
  }
}

const far = (options?: Partial<ClientOptions>) => {
  const made = new Far(options);
  const heard: number[] = [];
  const resynced: string[] = [];
  made.client.on("thread/tree/changed", ({ seq }) => heard.push(seq));
  made.client.onResync((workspace_id) => resynced.push(workspace_id));
  return Object.assign(made, { heard, resynced });
};
const tree = (seq: number) => ({ seq, workspace_id: "ws_1" });
const kindOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "answered",
    (error) => error.kind,
  );

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("[CONN10] after a loss it tries again, ever less often, and at once after a success", () => {
  const it = far();
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    it.lose();
    const before = it.opened;
    let waited = 0;
    for (; it.opened === before; waited += 10) vi.advanceTimersByTime(10);
    waits.push(waited);
  }
  for (const [i, most] of [100, 200, 500, 1_000, 2_000, 5_000, 5_000, 5_000].entries()) {
    expect(waits[i]).toBeGreaterThanOrEqual(most / 2);
    expect(waits[i]).toBeLessThanOrEqual(most + 10);
  }
  it.open();
  it.lose();
  vi.advanceTimersByTime(101);
  expect(it.opened).toBe(10);
});

test("[CONN25] between attempts it tells when the next one begins; while one is under way, or none is needed, nothing", () => {
  const it = far();
  expect(it.client.retryAt).toBeUndefined();
  it.open();
  expect(it.client.retryAt).toBeUndefined();
  const lostAt = Date.now();
  it.lose();
  const at = it.client.retryAt as number;
  expect(at).toBeGreaterThanOrEqual(lostAt + 50);
  expect(at).toBeLessThanOrEqual(lostAt + 100);
  vi.advanceTimersByTime(at - lostAt + 1);
  expect(it.opened).toBe(2);
  expect(it.client.retryAt).toBeUndefined();
});

test("[CONN26] retryNow tries at once and once; while an attempt is under way it does nothing", () => {
  const it = far();
  it.client.retryNow();
  expect(it.opened).toBe(1);
  it.open();
  it.client.retryNow();
  expect(it.opened).toBe(1);
  it.lose();
  it.client.retryNow();
  it.client.retryNow();
  expect(it.opened).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(it.opened).toBe(2);
  it.open();
  expect(it.client.state).toBe("open");
});

test("[CONN10] with reconnect: false a loss is the end", async () => {
  const it = far({ reconnect: false });
  const waiting = kindOf(it.client.call("ping", {}));
  it.lose();
  expect(await waiting).toBe("connection_lost");
  expect(it.client.state).toBe("closed");
  vi.advanceTimersByTime(60_000);
  expect(it.opened).toBe(1);
  expect(await kindOf(it.client.call("ping", {}))).toBe("closed");
});

test("[CONN11] a new connection begins with who it is and what it missed, before any call that waited", () => {
  const it = far({ name: "tester" });
  it.open();
  expect(it.looked()).toEqual([["initialize", { client: "tester" }]]);
  void it.client.call("thread/tree", { workspace_id: "ws_1" });
  it.answer(tree(7));
  it.looked();
  it.lose();
  void it.client.call("ping", {}).catch(() => {});
  expect(it.looked()).toEqual([]);
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.looked()).toEqual([
    ["initialize", { client: "tester" }],
    ["subscribe", { workspace_id: "ws_1", after_seq: 7 }],
    ["ping", {}],
  ]);
});

/** A client that read the tree at 7 and heard 8 and 9, then lost its connection and has a new one. */
async function resuming() {
  const it = far();
  it.open();
  const read = it.client.call("thread/tree", { workspace_id: "ws_1" });
  it.answer(tree(7));
  await read;
  it.tell(8);
  it.tell(9);
  it.lose();
  vi.advanceTimersByTime(100);
  it.looked();
  it.open();
  return it;
}

test("[CONN12] it resumes from the last it heard, hears each once and in order", async () => {
  const it = await resuming();
  expect(it.last()).toMatchObject({ method: "subscribe", params: { workspace_id: "ws_1", after_seq: 9 } });
  it.answer({ seq: 11, resync: false });
  for (const seq of [8, 9, 10, 10, 11, 9, 12]) it.tell(seq);
  expect(it.heard).toEqual([8, 9, 10, 11, 12]);
  expect(it.resynced).toEqual([]);
});

test("[CONN13] a gap in what it hears makes it ask for the rest", async () => {
  const it = await resuming();
  it.answer({ seq: 9, resync: false });
  it.looked();
  it.tell(12);
  it.tell(13);
  expect(it.heard).toEqual([8, 9]);
  expect(it.looked()).toEqual([["subscribe", { workspace_id: "ws_1", after_seq: 9 }]]);
});

test("[CONN13] a gap right after the state was read is noticed too", async () => {
  const it = far();
  it.open();
  void it.client.call("thread/tree", { workspace_id: "ws_1" });
  it.answer(tree(7));
  it.tell(9);
  expect(it.heard).toEqual([]);
  expect(it.last().params).toEqual({ workspace_id: "ws_1", after_seq: 7 });
});

test("[CONN14] where the gateway can't replay, it says so and counts from there", async () => {
  const it = await resuming();
  it.answer({ seq: 3, resync: true });
  // In the same breath as the answer: a gateway that lost its data counts from a lower number.
  it.tell(4);
  expect(it.resynced).toEqual(["ws_1"]);
  expect(it.heard).toEqual([8, 9, 4]);
  it.lose();
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.last().params).toEqual({ workspace_id: "ws_1", after_seq: 4 });
});

test("[CONN14] a workspace it worked in without learning a number is to be read anew after a loss", async () => {
  const it = far();
  it.open();
  void it.client.call("workspace/get", { workspace_id: "ws_1" });
  it.answer({ workspace: { id: "ws_1" } });
  it.lose();
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.last()).toMatchObject({ method: "subscribe", params: { workspace_id: "ws_1" } });
  it.answer({ seq: 5, resync: false });
  expect(it.resynced).toEqual(["ws_1"]);
  it.tell(6);
  expect(it.heard).toEqual([6]);
});

test("[CONN14] a workspace that is gone is told as one to read anew, and asked for no more", async () => {
  const it = await resuming();
  it.refuse("workspace.not_found", -32602);
  expect(it.resynced).toEqual(["ws_1"]);
  it.looked();
  it.lose();
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.looked()).toEqual([]);
});

test("[CONN15] a gateway that can't serve the resumption now is asked again, as long as the connection lasts", async () => {
  const it = await resuming();
  for (const [kind, code] of [
    ["overloaded", -32001],
    ["store.unavailable", -32603],
  ] as const) {
    it.refuse(kind, code);
    const count = it.sent.length;
    vi.advanceTimersByTime(500);
    expect(it.sent.slice(count)).toMatchObject([
      { method: "subscribe", params: { workspace_id: "ws_1", after_seq: 9 } },
    ]);
  }
  it.refuse("overloaded", -32001);
  it.looked();
  it.lose();
  vi.advanceTimersByTime(1_000);
  expect(it.looked()).toEqual([]);
  it.open();
  expect(it.looked()).toEqual([["subscribe", { workspace_id: "ws_1", after_seq: 9 }]]);
});

test("[CONN16] subscribe with after_seq counts from there, not from where the gateway is", async () => {
  const it = far();
  it.open();
  void it.client.call("subscribe", { workspace_id: "ws_1", after_seq: 4 });
  it.answer({ seq: 20, resync: false });
  it.lose();
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.last().params).toEqual({ workspace_id: "ws_1", after_seq: 4 });
});

test("[CONN16] after unsubscribe nothing is resumed", async () => {
  const it = await resuming();
  it.answer({ seq: 9, resync: false });
  void it.client.call("unsubscribe", { workspace_id: "ws_1" });
  it.answer({ unsubscribed: true });
  it.looked();
  it.lose();
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.looked()).toEqual([]);
});

test("[CONN17] a thread named alone is followed through its workspace, and its stream asked for again", async () => {
  const it = far();
  it.open();
  void it.client.call("subscribe", { thread_id: "thr_1" });
  it.answer({ seq: 3, resync: false });
  expect(it.last()).toMatchObject({ method: "thread/get", params: { thread_id: "thr_1" } });
  it.answer({ thread: { id: "thr_1", workspace_id: "ws_1" } });
  it.looked();
  it.lose();
  vi.advanceTimersByTime(100);
  it.open();
  expect(it.looked()).toEqual([
    ["subscribe", { workspace_id: "ws_1", after_seq: 3 }],
    ["subscribe", { thread_id: "thr_1" }],
  ]);
});

test("[CONN17] a call that names only a thread makes its workspace known by its answer", () => {
  const it = far();
  it.open();
  void it.client.call("thread/get", { thread_id: "thr_1" });
  it.answer({ thread: { id: "thr_1", workspace_id: "ws_1" } });
  it.lose();
  vi.advanceTimersByTime(100);
  it.looked();
  it.open();
  expect(it.looked()).toEqual([["subscribe", { workspace_id: "ws_1" }]]);
});

test("[CONN18] a listener that throws keeps no other from hearing, and its error comes out", () => {
  const it = new Far();
  const heard: string[] = [];
  const faulty = () => {
    throw new Error("a listener's own fault");
  };
  const surfaces = () => expect(() => vi.advanceTimersByTime(0)).toThrow("a listener's own fault");
  it.client.on("thread/tree/changed", faulty);
  it.client.on("thread/tree/changed", ({ seq }) => heard.push(`told ${seq}`));
  it.client.onState(faulty);
  it.client.onState((state) => heard.push(state));
  it.client.onResync(faulty);
  it.client.onResync((workspace_id) => heard.push(`resync ${workspace_id}`));
  void it.client.call("thread/tree", { workspace_id: "ws_1" });
  it.open();
  surfaces();
  expect(it.last().method).toBe("thread/tree");
  it.answer(tree(7));
  it.tell(8);
  surfaces();
  it.lose();
  surfaces();
  // The loss was told to somebody who threw, and is answered all the same.
  vi.advanceTimersByTime(100);
  expect(it.opened).toBe(2);
  it.open();
  surfaces();
  it.answer({ seq: 2, resync: true });
  surfaces();
  expect(heard).toEqual(["open", "told 8", "connecting", "open", "resync ws_1"]);
});

test("[CONN20] a call while the connection is down waits for the next; one that was sent fails with the connection", async () => {
  const it = far();
  const early = it.client.call("ping", {});
  expect(it.sent).toEqual([]);
  it.open();
  const sent = it.last();
  it.answer({ ok: 1 }, sent);
  expect(await early).toEqual({ ok: 1 });
  const lost = kindOf(it.client.call("workspace/list", {}));
  it.lose();
  const later = it.client.call("ping", {});
  expect(await lost).toBe("connection_lost");
  vi.advanceTimersByTime(100);
  it.looked();
  it.open();
  // What was sent is not sent again: nobody knows whether it was carried out.
  expect(it.sent.map(({ method }) => method)).toEqual(["ping"]);
  it.answer({ ok: 2 });
  expect(await later).toEqual({ ok: 2 });
});

test("[CONN21] a call ends when its signal does, and is not sent if it still waited", async () => {
  const it = far();
  const [before, waiting, underWay] = [new AbortController(), new AbortController(), new AbortController()];
  before.abort();
  expect(await kindOf(it.client.call("ping", {}, { signal: before.signal }))).toBe("cancelled");
  const first = kindOf(it.client.call("ping", {}, { signal: waiting.signal }));
  waiting.abort();
  expect(await first).toBe("cancelled");
  it.open();
  expect(it.sent).toEqual([]);
  const second = kindOf(it.client.call("ping", {}, { signal: underWay.signal }));
  const sent = it.last();
  underWay.abort();
  expect(await second).toBe("cancelled");
  it.answer({}, sent);
  const third = it.client.call("ping", {}, { signal: new AbortController().signal });
  it.answer({ ok: 3 });
  expect(await third).toEqual({ ok: 3 });
});

test("[CONN22] a call without an answer in time fails, and says why where there is no connection", async () => {
  const it = far({ timeoutMs: 1_000 });
  const down = it.client.call("ping", {});
  it.lose("nobody listens");
  const told = expect(down).rejects.toThrow(/No answer to ping within 1000 ms.*nobody listens/);
  const own = kindOf(it.client.call("ping", {}, { timeoutMs: 50 }));
  await vi.advanceTimersByTimeAsync(50);
  expect(await own).toBe("timeout");
  await vi.advanceTimersByTimeAsync(1_000);
  await told;
  it.open();
  const up = expect(it.client.call("ping", {})).rejects.toThrow(/^No answer to ping within 1000 ms\.$/);
  await vi.advanceTimersByTimeAsync(1_000);
  await up;
});

test("[CONN23] close fails every call, waiting or sent, and nothing is tried any more", async () => {
  const it = far();
  it.open();
  const states: string[] = [];
  it.client.onState((state) => states.push(state));
  const sent = it.client.call("ping", {}).catch((error) => error);
  it.client.close();
  const error = await sent;
  expect(error).toBeInstanceOf(NoAnswerError);
  expect(error.kind).toBe("closed");
  expect(await kindOf(it.client.call("ping", {}))).toBe("closed");
  vi.advanceTimersByTime(60_000);
  expect(it.opened).toBe(1);
  expect(states).toEqual(["closed"]);
});

test("[CONN24] params that JSON can't hold fail the call and nothing else", async () => {
  const it = far();
  it.open();
  const odd = { workspace_id: 1n } as unknown as { workspace_id: string };
  await expect(it.client.call("thread/tree", odd)).rejects.toThrow(TypeError);
  vi.advanceTimersByTime(60_000);
  expect(it.sent).toEqual([]);
});
