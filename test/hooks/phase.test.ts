import { expect, test } from "vitest";
import { type Contribution, type HookContext, type HookRun, lastingFact } from "../../src/hooks/index.js";
import {
  context,
  failuresOf,
  hook,
  POST,
  PRE,
  pack,
  refusal,
  runtime,
  section,
  sectionIds,
  TURN,
} from "./support.js";

const answers =
  (...contributions: unknown[]): HookRun =>
  () => ({ contributions: contributions as Contribution[] });

test("[HKR10] a phase answers sections and diagnostics with all that a manifest lists, the same each time", async () => {
  const hooks = runtime();
  const source_refs = [{ kind: "document", id: "agd_1", version: 3 }];
  const more = { priority: 7, visibility: "debug" } as const;
  hooks.install(
    pack(
      "notes",
      hook("notes.all", {
        ...more,
        run: answers(
          section("one", { source_refs } as Partial<Contribution>),
          { kind: "diagnostic", level: "info", message: "two documents were looked at" },
          section("two"),
        ),
      }),
    ),
  );
  const from = {
    hook_id: "notes.all",
    package_id: "notes",
    subscription_id: `notes.all@${PRE}`,
    visibility: "debug",
  };
  const line = { ...from, kind: "prompt_section", priority: 7, truncation: "none" };
  const result = await hooks.run(PRE, context);
  expect(result).toEqual({
    contributions: [
      {
        ...line,
        contribution_id: `notes.all@${PRE}#prompt_section/one`,
        section: { section_id: "one", title: "one", content: "text of one", source_refs },
        source_count: 1,
      },
      {
        ...line,
        contribution_id: `notes.all@${PRE}#prompt_section/two`,
        section: { section_id: "two", title: "two", content: "text of two", source_refs: [] },
        source_count: 0,
      },
    ],
    diagnostics: [
      {
        ...from,
        contribution_id: `notes.all@${PRE}#diagnostic/1`,
        level: "info",
        message: "two documents were looked at",
      },
    ],
  });
  expect(await hooks.run(PRE, context)).toEqual(result);
});

test("[HKR10] the hook of the AGENTS.md table gives the line of hook_sources that a manifest lists", async () => {
  const hooks = runtime();
  const text = `${"A rule of this project.\n".repeat(700)}`;
  hooks.install({
    id: "pioneer.prompt.agents_doc",
    domain: "pioneer.thread_agents_doc",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "pioneer.thread_agents_doc_prompt",
        phase: PRE,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: 16_000,
        run: ({ workspace_id, thread_id }) => ({
          contributions: [
            {
              kind: "prompt_section",
              section_id: "agents_md",
              title: "AGENTS.md",
              content: text,
              wrapper: {
                open: `<AGENTS_MD source="${workspace_id}/${thread_id}">\n`,
                close: "\n</AGENTS_MD>",
              },
              source_refs: [{ kind: "document", id: "agd_1", version: 2 }],
            },
          ],
        }),
      },
    ],
  });
  const { contributions } = await hooks.run(PRE, context);
  expect(contributions).toMatchObject([
    {
      hook_id: "pioneer.thread_agents_doc_prompt",
      package_id: "pioneer.prompt.agents_doc",
      subscription_id: `pioneer.thread_agents_doc_prompt@${PRE}`,
      contribution_id: `pioneer.thread_agents_doc_prompt@${PRE}#prompt_section/agents_md`,
      kind: "prompt_section",
      priority: 100,
      section: { section_id: "agents_md", title: "AGENTS.md" },
      source_count: 1,
      truncation: "hook",
    },
  ]);
  const content = contributions[0]?.section.content ?? "";
  expect(content).toMatch(
    /^<AGENTS_MD source="ws_1\/thr_1">\nA rule.*\n\[… \d+ characters cut\]\n<\/AGENTS_MD>$/s,
  );
  expect([...content].length).toBeLessThanOrEqual(16_000);
  expect(hooks.list()[0]).toMatchObject({ domain: "pioneer.thread_agents_doc" });
});

test("[HKR11] a kind that the package does not declare, or nobody knows, is that hook's failure", async () => {
  const hooks = runtime();
  hooks.install(
    {
      id: "talker",
      contributes: ["diagnostic"],
      subscriptions: [
        hook("talker", { run: answers({ kind: "diagnostic", level: "info", message: "x" }, section("s")) }),
      ],
    },
    pack("strange", hook("strange", { run: answers({ kind: "tool", name: "rm" }) })),
    pack("sound", hook("sound")),
  );
  const { contributions, diagnostics } = await hooks.run(PRE, context);
  expect(contributions.map(({ hook_id }) => hook_id)).toEqual(["sound"]);
  expect(diagnostics.map(({ hook_id, level }) => [hook_id, level])).toEqual([
    ["strange", "warning"],
    ["talker", "warning"],
  ]);
  for (const id of ["talker", "strange"]) {
    expect(failuresOf(hooks, id).last).toMatchObject([{ reason: "undeclared_kind" }]);
  }
});

test("[HKR11] a section is taken before the prompt is compiled and from hooks that are waited for, or not at all", async () => {
  const hooks = runtime();
  hooks.install(
    pack("p", hook("post", { phase: POST }), hook("turn", { phase: TURN })),
    pack(
      "q",
      hook("diagnoses", { phase: TURN, run: answers({ kind: "diagnostic", level: "error", message: "m" }) }),
    ),
  );
  expect((await hooks.run(POST, context)).contributions).toEqual([]);
  const { contributions, diagnostics } = await hooks.run(TURN, context);
  expect(contributions).toEqual([]);
  expect(diagnostics).toMatchObject([{ hook_id: "diagnoses", message: "m" }, { hook_id: "turn" }]);
  for (const id of ["post", "turn"]) {
    expect(failuresOf(hooks, id).last).toMatchObject([{ reason: "kind_not_taken" }]);
  }
});

test("[HKR12] an answer that is wrong in part contributes nothing", async () => {
  const cases: [string, unknown, string][] = [
    ["text", "a text", "invalid_answer"],
    ["no-list", { contributions: "none" }, "invalid_answer"],
    ["no-kind", { contributions: [section("a"), 7] }, "invalid_answer"],
    [
      "no-title",
      { contributions: [section("a"), { kind: "prompt_section", section_id: "b", content: "" }] },
      "invalid_answer",
    ],
    ["more", { contributions: [{ ...section("a"), trust: "me" }] }, "invalid_answer"],
    ["half", { contributions: [{ ...section("a"), content: "\ud83e" }] }, "invalid_answer"],
    ["twice", { contributions: [section("a"), section("a")] }, "invalid_answer"],
    ["many", { contributions: Array.from({ length: 5_000_000 }) }, "too_large"],
  ];
  const hooks = runtime();
  hooks.install(pack("p", ...cases.map(([id, answer]) => hook(id, { run: () => answer as never }))));
  const { contributions } = await hooks.run(PRE, context);
  expect(contributions).toEqual([]);
  for (const [id, , reason] of cases) expect(failuresOf(hooks, id).last, id).toMatchObject([{ reason }]);
});

test("[HKR12] an answer that fails when it is looked at is a failure like any other", async () => {
  const hooks = runtime();
  const trap = {
    get contributions() {
      throw new Error("do not look");
    },
  };
  hooks.install(pack("p", hook("trap", { run: () => trap as never }), hook("sound")));
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["sound"]);
  expect(failuresOf(hooks, "trap").last).toMatchObject([{ reason: "threw", message: "Error: do not look" }]);
});

test("[HKR13] ten megabytes are cut to the budget", async () => {
  const hooks = runtime();
  hooks.install(
    pack("p", hook("wide", { run: answers(section("wide", { content: "🧵".repeat(5_000_000) })) })),
  );
  const { contributions } = await hooks.run(PRE, context);
  expect(contributions).toMatchObject([{ truncation: "hook" }]);
  const content = contributions[0]?.section.content ?? "";
  expect([...content].length).toBeLessThanOrEqual(16_000);
  expect(content).toMatch(/^(🧵)+\n\[… \d+ characters cut\]$/u);
});

test("[HKR14] no hook can change the context, for itself, for others or for the caller", async () => {
  const hooks = runtime();
  const seen: HookContext[] = [];
  const given = { ...context, manifest: { sections: [{ id: "a" }] } };
  hooks.install(
    pack(
      "p",
      hook("vandal", {
        priority: 1,
        before: ["witness"],
        run: (told) => {
          (told as { manifest?: typeof given.manifest }).manifest?.sections.push({ id: "mine" });
          return undefined;
        },
      }),
      hook("witness", {
        run: (told) => {
          seen.push(told);
          return undefined;
        },
      }),
    ),
  );
  await hooks.run(PRE, given);
  expect(failuresOf(hooks, "vandal").last).toMatchObject([{ reason: "threw" }]);
  expect(seen).toEqual([
    { ...context, manifest: { sections: [{ id: "a" }] }, hook_id: "witness", phase: PRE },
  ]);
  given.manifest.sections.push({ id: "later" });
  expect(seen[0]?.manifest).toEqual({ sections: [{ id: "a" }] });
});

test("[HKR15] no hooks, and hooks that answer nothing, give an empty result", async () => {
  const hooks = runtime();
  const empty = { contributions: [], diagnostics: [] };
  expect(await hooks.run(PRE, context)).toEqual(empty);
  hooks.install(
    pack(
      "p",
      hook("a", { run: () => undefined }),
      hook("b", { run: async () => null as never }),
      hook("c", { run: answers() }),
    ),
  );
  expect(await hooks.run(PRE, context)).toEqual(empty);
  expect(["a", "b", "c"].map((id) => failuresOf(hooks, id).total)).toEqual([0, 0, 0]);
  await hooks.close();
  expect((await refusal(hooks.run(PRE, context))).kind).toBe("hook.closed");
});

test("[HKR26] a hook that names what it looks at is asked again only when one of those facts is another", async () => {
  const hooks = runtime();
  const seen: unknown[] = [];
  const run: HookRun = ({ tools, mode }) => {
    seen.push([tools, mode]);
    return { contributions: [section("listed", { content: JSON.stringify([tools, mode]) })] };
  };
  hooks.install(pack("p", hook("lists", { looks_at: ["tools", "mode"], run })));
  const told = async (facts: object) => {
    const { contributions } = await hooks.run(PRE, { ...context, ...facts });
    return contributions.map((one) => JSON.parse(one.section.content));
  };
  const [tools, others] = [lastingFact(["a"]), lastingFact(["b"])];
  for (const facts of [
    { tools, mode: 1 },
    { tools, mode: 1, input: "new" },
    { tools, mode: 2 },
    { tools: others },
  ])
    expect(await told(facts)).toEqual([[facts.tools, "mode" in facts ? facts.mode : null]]);
  expect(seen).toEqual([
    [["a"], 1],
    [["a"], 2],
    [["b"], undefined],
  ]);
  // What nobody froze may be another by now, although it is the same object.
  const loose = ["c"];
  expect(await told({ tools: loose })).toEqual([[["c"], null]]);
  loose.push("d");
  expect(await told({ tools: loose })).toEqual([[["c", "d"], null]]);
});

test("[HKR26] one that failed is asked again, and nobody can change what it was told", async () => {
  const hooks = runtime();
  let calls = 0;
  const run: HookRun = ({ tools }) => {
    expect(() => (tools as string[]).push("more")).toThrow(TypeError);
    if (calls++ === 0) throw new Error("not yet");
    return { contributions: [section("second")] };
  };
  hooks.install(pack("p", hook("late", { looks_at: ["tools"], run })));
  const facts = { ...context, tools: lastingFact(["a"]) };
  expect(sectionIds(await hooks.run(PRE, facts))).toEqual([]);
  expect(sectionIds(await hooks.run(PRE, facts))).toEqual(["second"]);
  expect(sectionIds(await hooks.run(PRE, facts))).toEqual(["second"]);
  expect(calls).toBe(2);
});
