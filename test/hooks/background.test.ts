import { expect, test } from "vitest";
import { HookRuntime, type PhaseDiagnostic } from "../../src/hooks/index.js";
import { context, failuresOf, fired, gate, hook, pack, runtime, section, TURN, until } from "./support.js";

const behind = { phase: TURN, execution: "background" } as const;

test("[HKR22] a hook in the background is not waited for; what it finds and how it fails is told later", async () => {
  const told: PhaseDiagnostic[] = [];
  const hooks = runtime({
    onDiagnostic: (diagnostic) => {
      told.push(diagnostic);
      throw new Error("a listener that fails");
    },
  });
  const go = gate();
  hooks.install(
    pack(
      "p",
      hook("fails", {
        ...behind,
        run: async () => {
          await go.passed;
          throw new Error("in vain");
        },
      }),
      hook("finds", {
        ...behind,
        run: async () => {
          await go.passed;
          return { contributions: [{ kind: "diagnostic", level: "info", message: "found" }] };
        },
      }),
      hook("too-late", {
        ...behind,
        run: async () => {
          await go.passed;
          return { contributions: [section("nowhere")] };
        },
      }),
    ),
  );
  expect(await hooks.run(TURN, context)).toEqual({ contributions: [], diagnostics: [] });
  go.open();
  await until(() => told.length === 3);
  expect(told.map(({ hook_id, message }) => [hook_id, message])).toEqual([
    ["fails", "Hook fails threw an error: Error: in vain"],
    ["finds", "found"],
    ["too-late", expect.stringContaining("kind that is not taken there")],
  ]);
  expect(failuresOf(hooks, "fails").last).toMatchObject([{ reason: "threw" }]);
  expect(failuresOf(hooks, "finds").total).toBe(0);
  expect(failuresOf(hooks, "too-late").last).toMatchObject([{ reason: "kind_not_taken" }]);
});

test("[HKR22] only so many run at once and so many wait; what is more is left out and recorded", async () => {
  const hooks = runtime({ background: { atOnce: 2, waiting: 1 } });
  const go = gate();
  let running = 0;
  let most = 0;
  let ended = 0;
  hooks.install(
    pack(
      "p",
      hook("works", {
        ...behind,
        run: async () => {
          most = Math.max(most, ++running);
          await go.passed;
          running--;
          ended++;
          return undefined;
        },
      }),
    ),
  );
  const results = [];
  for (let run = 0; run < 5; run++) results.push(await hooks.run(TURN, context));
  expect(results.map(({ diagnostics }) => diagnostics.length)).toEqual([0, 0, 0, 1, 1]);
  expect(failuresOf(hooks, "works")).toMatchObject({ total: 2, last: [{ reason: "overloaded" }, {}] });
  go.open();
  await until(() => ended === 3);
  expect(most).toBe(2);
  await hooks.run(TURN, context);
  await until(() => ended === 4);
});

test("[HKR23] closing waits for what is in the background, what waits for its turn included", async () => {
  const hooks = new HookRuntime({ background: { atOnce: 1, waiting: 5 }, closeMs: 60_000 });
  const go = gate();
  let ended = 0;
  const run = async () => {
    await go.passed;
    ended++;
    return undefined;
  };
  hooks.install(pack("p", hook("a", { ...behind, run }), hook("b", { ...behind, run })));
  await hooks.run(TURN, context);
  const closing = hooks.close();
  go.open();
  await closing;
  expect(ended).toBe(2);
});

test("[HKR23] closing does not wait for ever: what hangs is told to stop, what waits never starts", async () => {
  const hooks = new HookRuntime({ background: { atOnce: 1, waiting: 5 }, closeMs: 20 });
  const events: string[] = [];
  hooks.install(
    pack(
      "p",
      hook("a", {
        ...behind,
        run: async (_, { signal }) => {
          await fired(signal);
          events.push("a was stopped");
          return undefined;
        },
      }),
      hook("b", {
        ...behind,
        run: () => {
          events.push("b has started");
          return undefined;
        },
      }),
    ),
  );
  await hooks.run(TURN, context);
  await hooks.close();
  expect(events).toEqual(["a was stopped"]);
  expect(failuresOf(hooks, "a").total).toBe(0);
});
