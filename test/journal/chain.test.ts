import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import {
  appendEvents,
  EMPTY_HEAD,
  firstBreak,
  type JournalHead,
  nextEvent,
  parseEvent,
  readEvents,
  readHead,
  type WrittenEvent,
} from "../../src/journal/index.js";
import { onFreshStore, read, write } from "../contract/support/fresh-store.js";
import { addWorkspace } from "../contract/support/rows.js";

function chained(count: number): WrittenEvent[] {
  const events: WrittenEvent[] = [];
  let head: JournalHead = EMPTY_HEAD;
  for (let at = 1; at <= count; at++) {
    const event = nextEvent(
      head,
      { type: "test.happened", at, run_id: "run_1", note: `n ${at} "é😀"` },
      `state ${at}`,
    );
    events.push(event);
    head = event;
  }
  return events;
}

test("[JRN1] an event has its number, kind and time, the hash of the one before, that of the state after it, and its own over its exact text", () => {
  const [first, second] = chained(2) as [WrittenEvent, WrittenEvent];
  expect(first.body).toBe(
    '{"seq":1,"type":"test.happened","at":1,"run_id":"run_1","prev":"","state":"state 1","note":"n 1 \\"é😀\\""}',
  );
  expect(first.hash).toBe(sha256(first.body));
  expect(parseEvent(second)).toEqual({
    seq: 2,
    type: "test.happened",
    at: 2,
    run_id: "run_1",
    prev: first.hash,
    state: "state 2",
    note: 'n 2 "é😀"',
  });
});

test("[JRN2] a stretch of a journal is whole from its beginning or from the middle", () => {
  const events = chained(5);
  expect(firstBreak(events, EMPTY_HEAD)).toBeUndefined();
  expect(firstBreak(events.slice(2), events[1])).toBeUndefined();
  expect(firstBreak(events.slice(2), undefined)).toBeUndefined();
  expect(firstBreak([], EMPTY_HEAD)).toBeUndefined();
});

test("[JRN2] whatever is changed in whichever event, the first that is not as it was is named", () => {
  const events = chained(6);
  fc.assert(
    fc.property(fc.nat(5), fc.nat(200), fc.string({ minLength: 1, maxLength: 1 }), (at, place, other) => {
      const { seq, body, hash } = events[at] as WrittenEvent;
      const position = place % body.length;
      fc.pre(body[position] !== other);
      const changed = `${body.slice(0, position)}${other}${body.slice(position + 1)}`;
      const silent = events.with(at, { seq, body: changed, hash });
      expect(firstBreak(silent, EMPTY_HEAD)?.seq).toBe(seq);
      // With a hash of its own it is the next one that does not follow, or its own number or its own past.
      const rehashed = events.with(at, { seq, body: changed, hash: sha256(changed) });
      expect([seq, seq + 1]).toContain(firstBreak(rehashed, EMPTY_HEAD)?.seq ?? (at === 5 ? seq : undefined));
    }),
  );
});

test("[JRN2] an event that is missing, doubled or stands elsewhere is where the journal breaks", () => {
  const events = chained(4);
  const [a, b, c, d] = events as [WrittenEvent, WrittenEvent, WrittenEvent, WrittenEvent];
  expect(firstBreak([b, c, d], EMPTY_HEAD)).toEqual({ seq: 2, message: "event 1 is missing before it" });
  expect(firstBreak([a, c, d], EMPTY_HEAD)).toEqual({ seq: 3, message: "event 2 is missing before it" });
  expect(firstBreak([a, a, b], EMPTY_HEAD)?.seq).toBe(1);
  expect(firstBreak([a, c, b], EMPTY_HEAD)?.seq).toBe(3);
  expect(firstBreak([a, { ...c, seq: 2 }], EMPTY_HEAD)?.message).toBe("its text does not say its own number");
  expect(firstBreak(chained(2).slice(1), { seq: 1, hash: "another" })?.message).toBe(
    "it does not follow the event before it",
  );
});

onFreshStore("journals in the store", () => {
  const key = { workspace_id: "ws_j", thread_id: "t1" };
  const all = chained(1_203);

  test("[JRN3] events come back as they were written, from any number to any other, however many", async () => {
    await write(() => addWorkspace("ws_j"));
    expect(await read(() => readHead(key))).toEqual(EMPTY_HEAD);
    await write(() => appendEvents(key, all));
    expect(await read(() => readEvents(key, 1, all.length))).toEqual(all);
    expect(await read(() => readEvents(key, 499, 501))).toEqual(all.slice(498, 501));
    expect(await read(() => readEvents(key, 1_200, 9_999))).toEqual(all.slice(1_199));
    const { seq, hash } = all.at(-1) as WrittenEvent;
    expect(await read(() => readHead(key))).toEqual({ seq, hash });
    expect(await read(() => readHead({ ...key, thread_id: "t2" }))).toEqual(EMPTY_HEAD);
  });

  test("[JRN4] a number that is taken fails the whole unit: two writers never both write the next event", async () => {
    const head = await read(() => readHead(key));
    const next = nextEvent(head, { type: "test.next", at: 1 }, "s");
    const other = nextEvent(head, { type: "test.other", at: 2 }, "s");
    const behind = nextEvent(other, { type: "test.behind", at: 3 }, "s");
    await write(() => appendEvents(key, [next]));
    await expect(write(() => appendEvents(key, [behind, other]))).rejects.toThrow();
    expect(await read(() => readEvents(key, head.seq + 1, head.seq + 9))).toEqual([next]);
  });
});
