import type { Page } from "playwright-core";
import { expect } from "vitest";
import { agentNamed, playByAgent } from "../support/agents.js";
import { delegates } from "../support/delegation.js";
import type { ServerStep } from "../support/model-server/script.js";
import { type RunScene, type RunStageGiven, runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const OLD = `export async function handle(req: Request) {
  const event = verify(req);
  if (await events.has(event.id)) return ok();
  await bookings.confirm(event.booking);
  return ok();
}
`;

/** Agents that answer by script: one that may do everything, one that asks before it runs a command. */
export function threadStage(given: Partial<RunStageGiven> = {}) {
  const config = (url: string) => ({
    agents: [
      patient(url, "claude", {
        displayName: "Claude Code",
        color: "walnut",
        toolApprovals: { allow: ["*"] },
      }),
      patient(url, "codex", {
        displayName: "Codex",
        color: "woad",
        toolApprovals: { ask: ["odd_*"] },
      }),
    ],
    plugins: { artifacts: { enabled: false } },
  });
  const stage = runStage(sqliteStore, { config, ...given });
  return { ...stage, streaming: (scene: RunScene) => streaming(scene) };
}

/** A model that holds at a gate is not given up while a slow machine draws. */
function patient(url: string, id: string, more: object) {
  const agent = agentNamed(url, id, more);
  const timeouts = { connectMs: 20_000, firstTokenMs: 120_000, silenceMs: 120_000 };
  return { ...agent, chat: { ...agent.chat, config: { ...agent.chat.config, timeouts } } };
}

/** Where a thread is shown. */
export function pathOf(scene: RunScene, thread_id: string): string {
  return `/w/${scene.workspace_id}/thread/${thread_id}`;
}

const tool = (id: string, name: string, args: object): ServerStep => ({
  tool_call: { id, name, arguments: JSON.stringify(args) },
});

/** A run with everything in it that holds in the middle of its last sentence, until the gate `end` is opened. */
async function streaming(scene: RunScene) {
  const folder = await scene.folder("Payments", await scene.folder("Backend"));
  const { id } = await scene.start({ agent_id: "claude", folder_id: folder, title: "Webhooks book twice" });
  scene.write("src/payments/webhook.ts", OLD);
  scene.write("package.json", { scripts: { test: "echo '18 passed'" } });
  playByAgent(scene.model, {
    claude: [
      {
        steps: [
          { thinking: "A delivery that comes twice slips in between the check and the booking." },
          {
            text: "The check and the booking are two statements, so a second delivery slips in between. I will record the event first, in the same transaction, and let the unique index decide.",
          },
          tool("c1", "files_search", { pattern: "events" }),
        ],
      },
      {
        steps: [
          tool("c2", "files_edit", {
            path: "src/payments/webhook.ts",
            old_text:
              "  if (await events.has(event.id)) return ok();\n  await bookings.confirm(event.booking);\n",
            new_text:
              "  await db.transaction(async (tx) => {\n    const first = await events.record(tx, event.id);\n    if (first) await bookings.confirm(tx, event.booking);\n  });\n",
          }),
        ],
      },
      { steps: [tool("c3", "bash", { command: "npm test --silent -- webhook" })] },
      delegates({ agentId: "codex", content: "Try the migration on staging", mode: "async" }),
      {
        steps: [
          {
            text: [
              "The handler now confirms a booking at most once per event. ",
              "Two deliveries at once meet at the unique index: one records the event, the other waits, sees the row and answers",
            ],
          },
          { gate: "end" },
          { text: " without booking again.\n\n- one\n- two\n" },
        ],
      },
      "Noted.",
    ],
    codex: [
      { steps: [tool("d1", "bash", { command: "npm run db:migrate -- --env staging --dry-run" })] },
      "The dry run is clean.",
    ],
  });
  const { run } = await scene.startRun(
    id,
    "The provider redelivers `payment.succeeded` when we answer slowly, and we book twice. Make the handler idempotent on the event id, and prove it with a test that delivers twice at once.",
  );
  return { id, run, path: pathOf(scene, id), end: () => scene.model.open("end") };
}

/** The text of the transcript as it is read. */
export function said(page: Page) {
  return page.getByRole("feed", { name: "Messages" });
}

/** Waits until something is so. */
export const soon = <T>(look: () => Promise<T>) => expect.poll(look, { timeout: 15_000, interval: 50 });
