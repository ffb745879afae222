import { expect, test } from "vitest";
import { skillsPackage } from "../../src/prompts/sections/skills.js";
import { refusal, runtime } from "../hooks/support.js";
import { PRE } from "./support.js";

const HOOK = "heddle.skills_prompt";

function hooksOf() {
  const hooks = runtime();
  hooks.install(skillsPackage());
  return hooks;
}

const contributed = (skills: unknown) => hooksOf().run(PRE, { workspace_id: "ws", thread_id: "thr", skills });

const section = async (skills: unknown) => (await contributed(skills)).contributions[0]?.section.content;

const skill = (id: string, description = `What ${id} does.`) => ({
  id,
  description,
  skill_path: `/data/skills/${id}/SKILL.md`,
  cli_path: "/data/skills/bin/heddle",
});

const INTRODUCTION = `Available CLI skills:
Use these through bash. Read a skill's SKILL.md before you use it for the first time; its commands are run as \`<CLI> tool <name> …\`.`;

test("[SEC30] the hook is blocking, fails closed and comes after the tools", () => {
  expect(hooksOf().list()).toMatchObject([
    {
      id: "heddle.prompt.skills",
      subscriptions: [
        {
          hook_id: HOOK,
          phase: PRE,
          priority: 30,
          execution: "blocking",
          failure_policy: "fail_closed",
          budget: 16_000,
        },
      ],
    },
  ]);
});

test("[SEC31] each skill is listed with its SKILL.md and its command, by id, whatever the order", async () => {
  const skills = [skill("notes"), skill("lists")];
  const content = `${INTRODUCTION}
- lists: What lists does.
  SKILL.md: /data/skills/lists/SKILL.md
  CLI: /data/skills/bin/heddle
- notes: What notes does.
  SKILL.md: /data/skills/notes/SKILL.md
  CLI: /data/skills/bin/heddle`;
  expect((await contributed(skills)).contributions).toMatchObject([
    { priority: 30, section: { section_id: "skills", title: "Available CLI skills", content } },
  ]);
  expect(await section(skills.toReversed())).toBe(content);
});

test("[SEC32] without skills there is no section", async () => {
  expect(await contributed(undefined)).toEqual({ contributions: [], diagnostics: [] });
  expect(await contributed([])).toEqual({ contributions: [], diagnostics: [] });
});

test("[SEC33] a description takes one line, whatever it holds, and none leaves no colon", async () => {
  expect(await section([skill("a", "Reads.\r\n- b: all\u2028of\u0000it\ud800")])).toContain(
    "\n- a: Reads. - b: all of it\ufffd\n",
  );
  expect(await section([skill("a", " \n")])).toContain("\n- a\n  SKILL.md");
  const long = await contributed([skill("a", "x".repeat(20_000))]);
  expect(long.contributions[0]?.truncation).toBe("hook");
});

test("[SEC34] what is no list of skills fails closed", async () => {
  for (const skills of [
    "notes",
    [{ id: "notes" }],
    [{ ...skill("a"), id: "" }],
    [{ ...skill("a"), cli_path: 1 }],
  ]) {
    expect(await refusal(contributed(skills)), JSON.stringify(skills)).toMatchObject({
      kind: "hook.failed",
      data: { hook_id: HOOK },
    });
  }
});
