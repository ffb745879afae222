import fc from "fast-check";
import { expect, test } from "vitest";
import { Waits } from "./waits.js";

test("[DEL70] a thread waits for another, and not for itself or for one that waits for it", () => {
  const waits = new Waits();
  expect(waits.begin("w", "a", "a")).toBeUndefined();
  const over = waits.begin("w", "a", "b");
  expect(over).toBeDefined();
  expect(waits.begin("w", "b", "a")).toBeUndefined();
  // The same ids elsewhere are other threads.
  expect(waits.begin("v", "b", "a")).toBeDefined();
  expect(waits.begin("w", "b", "c")).toBeDefined();
  expect(waits.begin("w", "c", "a")).toBeUndefined();
  over?.();
  expect(waits.begin("w", "c", "a")).toBeDefined();
});

test("[DEL70] what waits twice waits until both are over, and an end counts once", () => {
  const waits = new Waits();
  const [first, second] = [waits.begin("w", "a", "b"), waits.begin("w", "a", "b")];
  first?.();
  first?.();
  expect(waits.begin("w", "b", "a")).toBeUndefined();
  second?.();
  expect(waits.begin("w", "b", "a")).toBeDefined();
});

test("[DEL71] a wait that is taken up counts before its call is made again, and ends with that call", () => {
  const waits = new Waits();
  const call = { id: "int_1", workspace_id: "w", caller_thread_id: "a", thread_id: "b" };
  waits.resume(call);
  expect(waits.begin("w", "b", "a")).toBeUndefined();
  const over = waits.resumed("int_1");
  expect(waits.resumed("int_1")).toBeUndefined();
  over?.();
  expect(waits.begin("w", "b", "a")).toBeDefined();
});

test("[DEL70] whatever begins and ends, no circle is ever accepted, and nothing is refused without one", () => {
  const thread = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.record({ from: thread, to: thread, ends: fc.option(fc.nat(), { freq: 3 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const waits = new Waits();
      const open: Wait[] = [];
      for (const { from, to, ends } of steps) {
        if (ends !== null) open.splice(ends % (open.length + 1), 1)[0]?.over();
        const closes = from === to || reaches(open, to, from);
        const over = waits.begin("w", from, to);
        expect(over === undefined).toBe(closes);
        if (over) open.push({ from, to, over });
        expect(open.filter((one) => reaches(open, one.to, one.from))).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});

interface Wait {
  readonly from: string;
  readonly to: string;
  readonly over: () => void;
}

/** The plainest way to say it: by trying every path. */
function reaches(edges: readonly Wait[], from: string, to: string): boolean {
  let at = new Set([from]);
  for (let round = 0; round < 6; round++) {
    at = new Set([...at, ...edges.filter((edge) => at.has(edge.from)).map((edge) => edge.to)]);
  }
  return at.has(to);
}
