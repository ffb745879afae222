import { expect, test } from "vitest";
import { HeddleError } from "../../src/base/index.js";
import { type HookPackage, reservedPhases } from "../../src/hooks/index.js";
import { context, hook, POST, PRE, pack, refusal, runtime, sectionIds } from "./support.js";

test("[HKR1] what a package leaves open has a value, and the list shows it", () => {
  const hooks = runtime();
  hooks.install(pack("notes", hook("notes.first")));
  expect(hooks.list()).toEqual([
    {
      id: "notes",
      domain: "notes",
      contributes: ["prompt_section", "diagnostic"],
      source: { kind: "built_in" },
      subscriptions: [
        {
          hook_id: "notes.first",
          subscription_id: "notes.first@turn.pre_prompt_compile",
          phase: PRE,
          priority: 100,
          after: [],
          before: [],
          execution: "blocking",
          failure_policy: "best_effort",
          visibility: "internal",
          budget: 16_000,
          position: 1,
          failures: { total: 0, last: [] },
        },
      ],
    },
  ]);
});

test("[HKR1] a package that does not fit is refused, and the refusal says where", async () => {
  const hooks = runtime();
  const wrong: [unknown, RegExp][] = [
    [null, /./],
    [{ ...pack("p", hook("h")), id: "white space" }, /id: must be letters/],
    [{ ...pack("p", hook("h")), contributes: ["tool"] }, /contributes\.0/],
    [{ ...pack("p", hook("h")), colour: "red" }, /colour/],
    [pack("p"), /subscriptions/],
    [pack("p", hook("h", { priority: 1.5 })), /subscriptions\.0\.priority/],
    [pack("p", hook("h", { budget: 3 })), /subscriptions\.0\.budget/],
    [pack("p", { ...hook("h"), run: "echo" } as never), /subscriptions\.0\.run: must be a function/],
    [pack("p", hook("h", { phase: "turn.sometime" })), /there is no phase turn\.sometime/],
    [pack("p", hook("h", { execution: "deadline" })), /deadline_ms/],
    [pack("p", hook("h", { deadline_ms: 100 })), /deadline_ms/],
    [pack("p", hook("h", { execution: "background", failure_policy: "fail_closed" })), /can't fail closed/],
  ];
  for (const [given, words] of wrong) {
    const refused = await refusal(() => hooks.install(given as HookPackage));
    expect(refused).toBeInstanceOf(HeddleError);
    expect(refused.kind).toBe("hook.invalid_package");
    expect(refused.message).toMatch(words);
  }
  expect(hooks.list()).toEqual([]);
});

test("[HKR2] the names that are reserved for later are refused by a kind of their own", async () => {
  const hooks = runtime();
  for (const phase of reservedPhases) {
    const refused = await refusal(() => hooks.install(pack("early", hook("early.bird", { phase }))));
    expect(refused).toMatchObject({
      kind: "hook.phase_reserved",
      data: { package_id: "early", hook_id: "early.bird", phase },
    });
    expect(refused.message).toContain("turn.pre_prompt_compile, turn.post_prompt_compile, turn.post_turn");
  }
});

test("[HKR3] installation is all or nothing, and an id belongs to one", async () => {
  const hooks = runtime();
  hooks.install(pack("one", hook("a"), hook("a", { phase: POST })));
  const same = await refusal(() => hooks.install(pack("two", hook("b")), pack("one", hook("c"))));
  expect(same).toMatchObject({ kind: "hook.package_exists", data: { package_id: "one" } });
  const taken = await refusal(() => hooks.install(pack("two", hook("b")), pack("three", hook("a"))));
  expect(taken).toMatchObject({
    kind: "hook.id_taken",
    data: { id: "a", package_id: "three", taken_by: "one" },
  });
  const twice = await refusal(() => hooks.install(pack("two", hook("b"), hook("b"))));
  expect(twice).toMatchObject({ kind: "hook.id_taken", data: { id: `b@${PRE}`, taken_by: "two" } });
  expect(hooks.list().map(({ id }) => id)).toEqual(["one"]);
});

test("[HKR4] who is named must be installed for the phase, before or together", async () => {
  const hooks = runtime();
  const late = pack("late", hook("late", { after: ["early"], priority: 1 }));
  expect(await refusal(() => hooks.install(late))).toMatchObject({
    kind: "hook.unknown_dependency",
    data: { package_id: "late", hook_id: "late", phase: PRE, dependency: "early" },
  });
  const elsewhere = pack("early", hook("early", { phase: POST, run: () => undefined }));
  expect((await refusal(() => hooks.install(late, elsewhere))).kind).toBe("hook.unknown_dependency");
  hooks.install(late, pack("early", hook("early")));
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["early", "late"]);
  expect((await refusal(hooks.uninstall("early"))).kind).toBe("hook.unknown_dependency");
  await hooks.uninstall("late");
  await hooks.uninstall("early");
  expect(hooks.list()).toEqual([]);
  expect((await refusal(hooks.uninstall("early"))).kind).toBe("hook.package_not_found");
});

test("[HKR5] a circle is refused by name, also that of one hook with itself", async () => {
  const hooks = runtime();
  const alone = await refusal(() => hooks.install(pack("p", hook("a", { after: ["a"] }))));
  expect(alone).toMatchObject({ kind: "hook.cycle", data: { phase: PRE, cycle: ["a", "a"] } });
  hooks.install(pack("p", hook("a"), hook("b", { after: ["a"] })));
  const circle = await refusal(() =>
    hooks.install(pack("q", hook("c", { after: ["b"], before: ["a"] }), hook("d", { after: ["c"] }))),
  );
  expect(circle).toMatchObject({ kind: "hook.cycle", data: { phase: PRE, cycle: ["a", "c", "b", "a"] } });
  expect(circle.message).toContain("a after c after b after a");
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["a", "b"]);
});

test("[HKR6] nothing can be made to come after a hook in the background", async () => {
  const hooks = runtime();
  const behind = hook("behind", { execution: "background", run: () => undefined });
  for (const others of [
    [behind, hook("x", { after: ["behind"] })],
    [{ ...behind, before: ["x"] }, hook("x")],
  ]) {
    expect(await refusal(() => hooks.install(pack("p", ...others)))).toMatchObject({
      kind: "hook.waits_for_background",
      data: { hook_id: "x", dependency: "behind" },
    });
  }
  hooks.install(pack("p", hook("x"), { ...behind, after: ["x"] }));
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["x"]);
});

test("[HKR25] packages are exchanged at once: what one gives up another takes, and a refusal changes nothing", async () => {
  const hooks = runtime();
  const closed: string[] = [];
  const closing = (id: string, ...given: Parameters<typeof hook>[]) => ({
    ...pack(id, ...given.map((one) => hook(...one))),
    close: async () => void closed.push(id),
  });
  hooks.install(closing("one", ["a"]), closing("two", ["b", { after: ["a"] }]), pack("three", hook("c")));
  for (const [out, put, kind] of [
    [["one"], [closing("four", ["d"])], "hook.unknown_dependency"],
    [["none"], [], "hook.package_not_found"],
    [["two"], [closing("three", ["d"])], "hook.package_exists"],
    [["two"], [closing("four", ["c"])], "hook.id_taken"],
  ] as const) {
    expect((await refusal(() => hooks.exchange({ out, put }))).kind).toBe(kind);
    expect(hooks.list().map(({ id }) => id)).toEqual(["one", "three", "two"]);
  }
  await hooks.exchange({ out: ["one", "two"], put: [closing("four", ["a"]), closing("two", ["b"])] });
  expect(hooks.list().map(({ id }) => id)).toEqual(["four", "three", "two"]);
  expect(closed.sort()).toEqual(["one", "two"]);
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["a", "b", "c"]);
});
