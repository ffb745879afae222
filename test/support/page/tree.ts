import type { Page } from "playwright-core";
import { z } from "zod";
import { defineTool } from "../../../src/tools/index.js";
import { agentNamed, playByAgent } from "../agents.js";
import { calls, type RunScene, type RunStage } from "../runs.js";

/** A tool that nobody's agent may use without somebody's word. */
const deploy = defineTool({
  name: "deploy_run",
  description: "Puts something into the world.",
  parameters: z.strictObject({ what: z.string() }),
  capabilities: ["deploy"],
  safeToRepeat: false,
  asks: true,
  run: ({ what }) => ({ status: "completed" as const, output: `deployed ${what}` }),
});

/** Four agents with a colour each, for suites that look at the tree. */
export const treeStage = {
  config: (url: string) => ({
    agents: [
      agentNamed(url, "claude", { displayName: "Claude Code" }),
      agentNamed(url, "codex", { displayName: "Codex" }),
      agentNamed(url, "notes", { displayName: "Notes" }),
      agentNamed(url, "reviewer", { displayName: "Reviewer" }),
    ],
  }),
  options: { tools: [deploy] },
};

/** A workspace as in the pictures, by the names of what stands in it. */
export interface Harbor {
  readonly scene: RunScene;
  readonly ws: string;
  readonly folders: Readonly<Record<"Backend" | "Payments" | "Web" | "Release 4.2" | "Release 4.3", string>>;
  readonly threads: Readonly<Record<string, string>>;
}

const THREADS = [
  ["Weekly review", "notes", ""],
  ["Decisions", "reviewer", ""],
  ["Fix login redirect loop", "claude", "Backend"],
  ["Slow query on /bookings", "notes", "Backend"],
  ["Idempotency keys audit", "claude", "Payments"],
  ["Migration dry run", "codex", "Payments"],
  ["Refund rounding in JPY", "codex", "Payments"],
  ["Webhooks book twice", "claude", "Payments"],
  ["Bundle over 150 KB", "claude", "Web"],
  ["Checkout copy", "reviewer", "Web"],
  ["Date picker trap", "codex", "Web"],
  ["Changelog", "reviewer", "Release 4.2"],
  ["Release checklist", "reviewer", "Release 4.2"],
] as const;

export async function harbor(stage: RunStage): Promise<Harbor> {
  const scene = await stage.scene();
  const { workspace_id: ws } = scene;
  await scene.wire.result("workspace/update", { workspace_id: ws, name: "harbor" });
  const Backend = await scene.folder("Backend");
  const Payments = await scene.folder("Payments", Backend);
  const Web = await scene.folder("Web");
  const folders = {
    Backend,
    Payments,
    Web,
    "Release 4.2": await scene.folder("Release 4.2"),
    "Release 4.3": await scene.folder("Release 4.3"),
  };
  const threads: Record<string, string> = {};
  for (const [title, agent_id, folder] of THREADS) {
    const folder_id = folder === "" ? undefined : folders[folder];
    threads[title] = (await scene.start({ title, agent_id, folder_id })).id;
  }
  await scene.saveDoc("Answer in short sentences.");
  await scene.saveDoc("Every endpoint is idempotent.", Backend);
  await scene.saveDoc("", Payments);
  await scene.saveDoc("No inline styles.", Web);
  return { scene, ws, folders, threads };
}

/** Lets a thread's agent ask for somebody's word, and waits until it does. */
export async function asks({ scene, threads }: Harbor, title: string, agent: string): Promise<string> {
  playByAgent(scene.model, { [agent]: [calls("deploy_run", { what: "staging" }), "done"] });
  const { run } = await scene.startRun(threads[title] as string, "Deploy it.");
  await scene.changed(run.id, ({ status }) => status === "waiting");
  return run.id;
}

/** A row by the first of what it says of itself: its name, or name and facts. */
export const row = (page: Page, name: string | RegExp) =>
  page.getByRole("treeitem", {
    name:
      typeof name === "string"
        ? new RegExp(`^${name.replaceAll(/[.*+?^$()[\]{}|\\/]/g, "\\$&")}(, |$)`)
        : name,
  });

/** The names of the rows from top to bottom. */
export async function rowNames(page: Page): Promise<string[]> {
  const rows = page.getByRole("treeitem");
  return rows.evaluateAll((all) =>
    all
      .toSorted((a, b) => Number(a.dataset.at) - Number(b.dataset.at))
      .map((each) => each.querySelector(".t")?.textContent ?? ""),
  );
}

/** Opens folders by their names, from the top down. */
export async function openFolders(page: Page, ...names: string[]): Promise<void> {
  for (const name of names) {
    const folder = row(page, name);
    if ((await folder.getAttribute("aria-expanded")) === "false") await folder.click();
  }
}

export async function choose(page: Page, name: string, item: string): Promise<void> {
  await row(page, name).click({ button: "right" });
  await page.getByRole("menuitem", { name: item, exact: true }).click();
}
