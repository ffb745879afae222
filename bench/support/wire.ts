import { setTimeout as wait } from "node:timers/promises";
import type { Bench } from "../harness.js";
import { Caller } from "./caller.js";
import { type GatewayProcess, startGateway } from "./child.js";
import { databaseFile } from "./local.js";
import { RawSqlite } from "./raw.js";

/** Longer than the counts in `thread.json` wait after an append. */
const COUNTS_MS = 700;

/** A gateway that follows a project's files, and a connection to it. */
export async function followProject(
  bench: Bench,
  { dataDir, root }: { dataDir: string; root: string },
): Promise<{ gateway: GatewayProcess; caller: Caller; workspace_id: string }> {
  const gateway = await startGateway(bench, dataDir);
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const { workspace } = await caller.ask("workspace/create", { root_path: root });
  return { gateway, caller, workspace_id: workspace.id };
}

/** Until every message of a workspace can be found. */
export async function untilSearchable(caller: Caller, workspace_id: string): Promise<void> {
  while ((await caller.ask("thread/search", { workspace_id, query: "nothing", limit: 1 })).incomplete);
}

/**
 * Says past the gateway, while none runs, that nothing is left to do for the search: where many messages are written only
 * to be listed, making them all searchable would take longer than everything that is measured.
 */
export async function sayAllWordsAreKnown(dataDir: string): Promise<void> {
  const raw = await RawSqlite.open(databaseFile(dataDir));
  raw.exec("update thread set words_to = log_size");
  raw.close();
}

/** Until what appends leave for later is done too, so that nobody else's time is spent on it. */
export async function untilIdle(caller: Caller, workspaces: readonly string[]): Promise<void> {
  await wait(COUNTS_MS);
  for (const workspace_id of workspaces) await untilSearchable(caller, workspace_id);
}
