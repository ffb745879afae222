import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A stream that is held at a gate says nothing for as long as somebody looks at it. */
const HOUR_MS = 3_600_000;
const timeouts = { connectMs: 20_000, firstTokenMs: HOUR_MS, silenceMs: HOUR_MS };

const agentAt = (url: string, agentId: string, model: string, more: object) => ({
  agentId,
  chat: {
    provider: "openai-compatible",
    model,
    contextWindow: 64_000,
    config: { baseURL: `${url}/v1`, apiKey: "harbor-key-0123456789", timeouts },
  },
  ...more,
});

/** The agents of the pictures, all of which ask the scripted model server. */
export function harborConfig(url: string, dir: string): object {
  return {
    agents: [
      agentAt(url, "claude-code", "sonnet", {
        displayName: "Claude Code",
        description: "Writes and tests code in this project.",
        systemPrompt: CLAUDE,
        color: "walnut",
        toolDenylist: ["*_delete"],
        toolApprovals: { allow: ["bash", "files_edit"], ask: ["files_write"] },
        agentAllowlist: ["codex", "notes", "reviewer"],
      }),
      agentAt(url, "codex", "gpt-5.1-codex", {
        displayName: "Codex",
        description: "Writes code, and tries what others wrote.",
        color: "woad",
        toolApprovals: { ask: ["bash"] },
      }),
      agentAt(url, "notes", "gpt-oss:20b", {
        displayName: "Notes",
        description: "Keeps lists, notes and the changelog.",
        color: "orchil",
        toolAllowlist: ["lists_*", "notes_*", "views_*", "panels_*"],
      }),
      agentAt(url, "reviewer", "sonnet", {
        displayName: "Reviewer",
        description: "Reads changes and says what is wrong with them.",
        color: "verdigris",
        capabilityDenylist: ["*.write", "bash"],
      }),
      agentAt(url, "reading-list", "gpt-oss:20b", {
        displayName: "Reading list",
        description: "Collects what is worth reading.",
        color: "cochineal",
        toolAllowlist: ["lists_*"],
      }),
      { agentId: "demo", displayName: "Demo", color: "weld", chat: { provider: "demo" } },
      {
        agentId: "pi",
        displayName: "pi",
        chat: { provider: "pi-cli", config: { command: "pi-agent" } },
      },
    ],
    hooks: [{ module: hookModule(dir) }],
  };
}

const CLAUDE = `You are Claude Code, a careful engineer in a small team. Read before you write, change as little as the task needs, and prove what you change with a test that fails without it.

Say what you will do in a sentence before you do it. When a command fails, quote the line that says why. Never guess at what a file holds: open it. When two readings of a request are possible, name both and take the one that can be undone. Leave what you did not come for as it is, and mention it at the end instead.

Answer in plain English and short sentences.`;

/** The message at which the hook fails: a run that never began is one of the pictures. */
export const HOOK_FAILS_AT = "Remove the import and try once more.";

const TIDES = [
  "High water at the outer pier",
  "Berths that are closed this week",
  "Ferries that arrive after dark",
  "Pilots on duty",
];

/** A hook that tells the tides, more of them than its budget allows. */
function hookModule(dir: string): string {
  const file = join(dir, "tides.mjs");
  const lines = Array.from({ length: 110 }, (_, at) => `- ${TIDES[at % TIDES.length]}: entry ${at + 1}`);
  const content = `Harbor calendar:\n${lines.join("\n")}`;
  const text = `
    const content = ${JSON.stringify(content)};
    export default {
      id: "harbor.calendar",
      contributes: ["prompt_section"],
      subscriptions: [{
        hook_id: "harbor.calendar_prompt",
        phase: "turn.pre_prompt_compile",
        failure_policy: "fail_closed",
        budget: 2000,
        run({ input }) {
          if (input.includes(${JSON.stringify(HOOK_FAILS_AT)})) throw new Error("the calendar could not be read");
          return { contributions: [{ kind: "prompt_section", section_id: "calendar", title: "Harbor calendar", content }] };
        },
      }],
    };`;
  writeFileSync(file, text);
  return file;
}
