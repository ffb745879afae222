import { expect, test } from "vitest";
import { HookRuntime } from "../../src/hooks/index.js";
import {
  context,
  failuresOf,
  fired,
  gate,
  hook,
  PRE,
  pack,
  refusal,
  runtime,
  section,
  sectionIds,
} from "./support.js";

const SECRET = "the password is swordfish";

function throws(): never {
  throw new Error(SECRET);
}

function never(): Promise<never> {
  return new Promise(() => {});
}

test("[HKR16] a hook that fails closed ends the phase, by name and without its own words", async () => {
  const hooks = runtime();
  const stopped = gate();
  const started: string[] = [];
  hooks.install(
    pack(
      "guards",
      hook("guards.gate", { failure_policy: "fail_closed", run: throws }),
      hook("guards.next", {
        after: ["guards.gate"],
        run: () => {
          started.push("guards.next");
          return undefined;
        },
      }),
    ),
    pack(
      "others",
      hook("others.hangs", {
        run: async (_, { signal }) => {
          await fired(signal);
          stopped.open();
          return undefined;
        },
      }),
    ),
  );
  const failed = await refusal(hooks.run(PRE, context));
  expect(failed).toMatchObject({
    kind: "hook.failed",
    data: {
      hook_id: "guards.gate",
      package_id: "guards",
      subscription_id: `guards.gate@${PRE}`,
      phase: PRE,
      reason: "threw",
    },
  });
  expect(failed.message).toContain("guards.gate of package guards");
  expect(JSON.stringify([failed, failed.message, (failed as unknown as Error).cause])).not.toContain(
    "swordfish",
  );
  await stopped.passed;
  expect(started).toEqual([]);
  expect(failuresOf(hooks, "guards.gate").last).toMatchObject([
    { reason: "threw", message: `Error: ${SECRET}` },
  ]);
  // Who was stopped has not failed.
  expect(failuresOf(hooks, "others.hangs").total).toBe(0);
});

test("[HKR17] a best-effort hook that fails is recorded and passed over, and who waits for it runs", async () => {
  const hooks = runtime({ clock: { now: () => 1_777_900_000_123 } });
  hooks.install(pack("p", hook("a", { run: throws }), hook("b", { after: ["a"] }), hook("c")));
  const result = await hooks.run(PRE, context);
  expect(sectionIds(result)).toEqual(["b", "c"]);
  expect(JSON.stringify(result.contributions)).not.toContain("swordfish");
  expect(result.diagnostics).toEqual([
    {
      hook_id: "a",
      package_id: "p",
      subscription_id: `a@${PRE}`,
      visibility: "internal",
      level: "warning",
      message: `Hook a threw an error: Error: ${SECRET}`,
    },
  ]);
  const { total, last } = failuresOf(hooks, "a");
  expect({ total, last }).toMatchObject({ total: 1, last: [{ at: 1_777_900_000, reason: "threw" }] });
  expect(last[0]?.detail).toContain("failures.test.ts");
});

test("[HKR18] what is late is dropped: its signal fires and what it answers then is ignored", async () => {
  const hooks = runtime();
  const late = gate();
  const answered = gate();
  hooks.install(
    pack(
      "p",
      hook("late", {
        execution: "deadline",
        deadline_ms: 20,
        run: async (_, { signal }) => {
          await fired(signal);
          late.open();
          await answered.passed;
          return { contributions: [section("too-late")] };
        },
      }),
      hook("in-time", { execution: "deadline", deadline_ms: 60_000 }),
    ),
  );
  const result = await hooks.run(PRE, context);
  await late.passed;
  answered.open();
  expect(sectionIds(result)).toEqual(["in-time"]);
  expect(result.diagnostics.map(({ message }) => message)).toEqual([
    "Hook late took too long: no answer within 20 ms",
  ]);
  expect(failuresOf(hooks, "late").last).toMatchObject([
    { reason: "late", message: "no answer within 20 ms" },
  ]);
});

test("[HKR18] a late answer that is an error disturbs nobody, and a hook that fails closed fails by being late", async () => {
  const hooks = runtime();
  const thrown = gate();
  hooks.install(
    pack(
      "p",
      hook("late", {
        execution: "deadline",
        deadline_ms: 20,
        failure_policy: "fail_closed",
        run: async (_, { signal }) => {
          await fired(signal);
          thrown.open();
          return throws();
        },
      }),
    ),
  );
  const failed = await refusal(hooks.run(PRE, context));
  expect(failed).toMatchObject({ kind: "hook.failed", data: { hook_id: "late", reason: "late" } });
  await thrown.passed;
  // An error that nobody takes would fail the test's process here.
  await new Promise((resolve) => setImmediate(resolve));
  expect(failuresOf(hooks, "late").total).toBe(1);
});

test("[HKR19] a hook without a deadline that hangs holds nobody for ever", async () => {
  const hooks = runtime({ longestMs: 20, stopMs: 10 });
  hooks.install(pack("p", hook("hangs", { run: never }), hook("sound")));
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["sound"]);
  expect(failuresOf(hooks, "hangs").last).toMatchObject([{ reason: "late" }]);
});

test("[HKR20] a caller that gives up ends the phase and stops its hooks, and that is nobody's failure", async () => {
  const hooks = runtime();
  const cancel = new AbortController();
  const started = gate();
  const stopped = gate();
  const after: string[] = [];
  hooks.install(
    pack(
      "p",
      hook("runs", {
        failure_policy: "fail_closed",
        run: async (_, { signal }) => {
          started.open();
          await fired(signal);
          stopped.open();
          return throws();
        },
      }),
      hook("waits", {
        after: ["runs"],
        run: () => {
          after.push("waits");
          return undefined;
        },
      }),
    ),
  );
  const running = refusal(hooks.run(PRE, context, { signal: cancel.signal }));
  await started.passed;
  cancel.abort();
  expect(await running).toMatchObject({ kind: "hook.cancelled", data: { phase: PRE } });
  await stopped.passed;
  expect((await refusal(hooks.run(PRE, context, { signal: cancel.signal }))).kind).toBe("hook.cancelled");
  expect(after).toEqual([]);
  expect(failuresOf(hooks, "runs").total).toBe(0);
});

test("[HKR21] the last failures are kept, the newest first, and go with their subscription", async () => {
  const hooks = runtime();
  let count = 0;
  const failing = pack(
    "p",
    hook("fails", {
      run: () => {
        throw new Error(`${++count} ${"x".repeat(100_000)}`);
      },
    }),
  );
  hooks.install(failing);
  for (let run = 0; run < 13; run++) await hooks.run(PRE, context);
  const { total, last } = failuresOf(hooks, "fails");
  expect(total).toBe(13);
  expect(last.map(({ message }) => Number.parseInt(message.slice("Error: ".length), 10))).toEqual([
    13, 12, 11, 10, 9, 8, 7, 6, 5, 4,
  ]);
  expect(JSON.stringify(last).length).toBeLessThan(120_000);
  await hooks.replace(failing);
  expect(failuresOf(hooks, "fails").total).toBe(13);
  await hooks.uninstall("p");
  hooks.install(failing);
  expect(failuresOf(hooks, "fails").total).toBe(0);
});

test("[HKR21] whatever is thrown, the record has words for it", async () => {
  const hooks = runtime();
  const nasty = {
    toString() {
      throw new Error("again");
    },
  };
  const thrown = { "0null": null, "1text": "plainly", "2nasty": nasty, "3half": "\ud83e" };
  hooks.install(
    pack(
      "p",
      ...Object.entries(thrown).map(([id, what]) =>
        hook(id, {
          run: () => {
            throw what;
          },
        }),
      ),
    ),
  );
  expect(sectionIds(await hooks.run(PRE, context))).toEqual([]);
  const messages = Object.keys(thrown).map((id) => failuresOf(hooks, id).last[0]?.message);
  expect(messages).toEqual(["null", "plainly", "something that can't be put into words", "\ufffd"]);
});

test("[HKR23] closing ends phases under way, closes packages once, and nothing begins after it", async () => {
  const hooks = new HookRuntime({ stopMs: 10 });
  const started = gate();
  let closed = 0;
  hooks.install(
    {
      ...pack(
        "p",
        hook("hangs", {
          run: () => {
            started.open();
            return never();
          },
        }),
      ),
      close: async () => {
        closed++;
        throw new Error("can't be let go of");
      },
    },
    { ...pack("q", hook("other")), close: async () => void closed++ },
  );
  const running = refusal(hooks.run(PRE, context));
  await started.passed;
  const closing = hooks.close();
  expect((await running).kind).toBe("hook.closed");
  expect((await refusal(hooks.run(PRE, context))).kind).toBe("hook.closed");
  expect((await refusal(() => hooks.install(pack("r", hook("r"))))).kind).toBe("hook.closed");
  await closing;
  await hooks.close();
  expect(closed).toBe(2);
});

test("[HKR24] a phase under way ends with the package it began with, which is closed after that", async () => {
  const hooks = runtime();
  const started = gate();
  const go = gate();
  const events: string[] = [];
  const slow = hook("slow", {
    run: async () => {
      started.open();
      await go.passed;
      events.push("old one ends");
      return { contributions: [section("old")] };
    },
  });
  hooks.install({ ...pack("p", slow), close: async () => void events.push("old one closed") });
  const running = hooks.run(PRE, context);
  await started.passed;
  const replacing = hooks.replace(
    pack("p", hook("slow", { run: () => ({ contributions: [section("new")] }) })),
  );
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["new"]);
  go.open();
  expect(sectionIds(await running)).toEqual(["old"]);
  await replacing;
  expect(events).toEqual(["old one ends", "old one closed"]);
  expect((await refusal(hooks.replace(pack("q", hook("q"))))).kind).toBe("hook.package_not_found");
  const wrong = pack("p", hook("slow", { after: ["nobody"] }));
  expect((await refusal(hooks.replace(wrong))).kind).toBe("hook.unknown_dependency");
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["new"]);
});
