import fc from "fast-check";
import { expect, test } from "vitest";
import {
  context,
  gate,
  hook,
  PRE,
  pack,
  runtime,
  type Subscription,
  section,
  sectionIds,
} from "./support.js";

test("[HKR7] dependencies come first, then the smaller priority, then the smaller id", async () => {
  const hooks = runtime();
  hooks.install(
    pack("one", hook("b", { priority: 10 }), hook("a", { priority: 10 }), hook("B", { priority: 10 })),
    pack("two", hook("last", { priority: -5, after: ["z"] }), hook("z", { priority: 200 })),
    pack("three", hook("first", { priority: 300, before: ["B"] }), hook("plain")),
  );
  const order = ["a", "b", "plain", "z", "last", "first", "B"];
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(order);
  const positions = hooks.list().flatMap(({ subscriptions }) => subscriptions);
  expect(positions.toSorted((x, y) => x.position - y.position).map(({ hook_id }) => hook_id)).toEqual(order);
});

test("[HKR8] independent hooks run side by side; one that waits starts when the other has ended", async () => {
  const hooks = runtime();
  const met = gate();
  const events: string[] = [];
  const meets = (other: Promise<void>, open: () => void) => async () => {
    open();
    await other;
    return undefined;
  };
  const left = gate();
  hooks.install(
    pack(
      "p",
      // Each waits until the other has begun: one after the other, neither would end.
      hook("left", { run: meets(met.passed, left.open) }),
      hook("right", { run: meets(left.passed, met.open) }),
      hook("slow", {
        run: async () => {
          await met.passed;
          events.push("slow ends");
          return undefined;
        },
      }),
      hook("after", {
        priority: 1,
        after: ["slow"],
        run: () => {
          events.push("after starts");
          return undefined;
        },
      }),
    ),
  );
  await hooks.run(PRE, context);
  expect(events).toEqual(["slow ends", "after starts"]);
});

interface Drawn {
  readonly priority: number;
  readonly after: readonly number[];
  readonly ends: number;
}

/** The first of all arrangements that keep the dependencies, comparing place by place. Slow and plain. */
function model(drawn: readonly Drawn[]): string[] {
  const rank = (index: number) => [drawn[index]?.priority as number, `h${index}`] as const;
  const before = (a: number, b: number) => rank(a)[0] - rank(b)[0] || (rank(a)[1] < rank(b)[1] ? -1 : 1);
  const arrangements = (left: number[]): number[][] =>
    left.length === 0
      ? [[]]
      : left.flatMap((one) =>
          arrangements(left.filter((other) => other !== one)).map((rest) => [one, ...rest]),
        );
  const fits = (order: number[]) =>
    order.every((one, at) => drawn[one]?.after.every((earlier) => order.indexOf(earlier) < at));
  const compare = (x: number[], y: number[]) => {
    const at = x.findIndex((one, index) => one !== y[index]);
    return at < 0 ? 0 : before(x[at] as number, y[at] as number);
  };
  const [best] = arrangements(drawn.map((_, index) => index))
    .filter(fits)
    .sort(compare);
  return (best ?? []).map((index) => `h${index}`);
}

const drawings = fc
  .array(
    fc.record({
      priority: fc.integer({ min: 0, max: 2 }),
      dice: fc.array(fc.nat(4), { maxLength: 2 }),
      ends: fc.nat(100),
    }),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((drawn) =>
    // Only earlier ones are named, so that there is an order; ids and priorities stay as they were drawn.
    drawn.map(
      ({ priority, dice, ends }, index): Drawn => ({
        priority,
        ends,
        after: [...new Set(dice)].filter((other) => other < index),
      }),
    ),
  );

test("[HKR9] whatever ends first, the result is in the order of a plain model", async () => {
  await fc.assert(
    fc.asyncProperty(drawings, fc.boolean(), async (drawn, turned) => {
      const hooks = runtime();
      const doors = drawn.map(() => gate());
      const subscriptions = drawn.map(
        ({ priority, after }, index): Subscription =>
          hook(`h${index}`, {
            priority,
            after: after.map((other) => `h${other}`),
            run: async () => {
              await doors[index]?.passed;
              return { contributions: [section(`h${index}`)] };
            },
          }),
      );
      hooks.install(pack("p", ...(turned ? subscriptions.toReversed() : subscriptions)));
      const running = hooks.run(PRE, context);
      const byEnd = drawn
        .map((_, index) => index)
        .sort((a, b) => (drawn[a]?.ends ?? 0) - (drawn[b]?.ends ?? 0));
      for (const index of byEnd) {
        doors[index]?.open();
        await Promise.resolve();
      }
      expect(sectionIds(await running)).toEqual(model(drawn));
    }),
    { numRuns: 150 },
  );
});
