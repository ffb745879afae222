import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Thread, Workspace } from "../../../protocol/index.js";
import { dataDirectory } from "../../connect/data-dir.js";
import type { WorkspaceOptions } from "../../options.js";
import { formatTime, paint, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { folderPath, onThread } from "./of-thread.js";
import { setupLines } from "./setup-text.js";

export async function show(id: string, options: WorkspaceOptions): Promise<void> {
  const found = await withSession(options, async (session) => {
    const { thread } = await onThread(session, id, (named) => session.call("thread/get", named));
    if (options.json) return { thread };
    const { workspace } = await session.call("workspace/get", { workspace_id: thread.workspace_id });
    const here = session.place !== "elsewhere";
    const dir = here ? await directoryOf(thread, workspace, options) : undefined;
    return { thread, told: { workspace, here, dir, path: await folderPath(session, thread) } };
  });
  const { thread, told } = found;
  if (!told) return printJson({ thread });
  const rows: [string, string | undefined][] = [
    ["id", thread.id],
    ["workspace", `${told.workspace.name}  ${paint.dim(thread.workspace_id)}`],
    ["folder", told.path],
    ["agent", visible(thread.agent_id)],
    ["status", thread.status],
    ["messages", String(thread.message_count)],
    ["pinned", thread.pinned_at === undefined ? undefined : formatTime(thread.pinned_at)],
    ["created", formatTime(thread.created_at)],
    ["updated", formatTime(thread.updated_at)],
    ["allowed", thread.granted_tools?.map(visible).join(", ")],
    ["directory", told.dir && visible(told.dir)],
    ["worktree", worktreeText(thread, told.here)],
    ["read-only", thread.read_only === undefined ? undefined : paint.yellow(visible(thread.read_only))],
  ];
  print(paint.bold(visible(thread.title)));
  for (const [name, value] of rows) if (value !== undefined) print(field(name, value));
  const [first, ...more] = thread.setup ? setupLines(thread.setup, paint) : [];
  if (first !== undefined) print(field("set-up", first), ...more.map((line) => field("", line)));
}

function field(name: string, value: string): string {
  return `${paint.dim(name.padEnd(9))}  ${value}`;
}

/** Where its files are. A worktree that was removed, or is another project's (of an imported thread), holds none of them. */
async function directoryOf(
  { id, worktree }: Thread,
  { id: workspace_id, root_path }: Workspace,
  { data }: WorkspaceOptions,
): Promise<string | undefined> {
  const root = root_path ?? join(dataDirectory(data, process.env), "workspaces", workspace_id);
  const places = worktree && root_path !== undefined ? await placesOf(root_path) : [];
  const own = await realpath(worktree?.path ?? root).catch(() => root);
  return [...places.filter((place) => place === own), root]
    .map((place) => join(place, ".agent", "threads", id))
    .find((dir) => existsSync(dir));
}

async function placesOf(root: string): Promise<string[]> {
  const { threadPlaces } = await import("../../../atsf/index.js");
  return threadPlaces(root, []).catch(() => []);
}

/** What a thread remembers of its worktree outlives the worktree. */
function worktreeText({ worktree }: Thread, here: boolean): string | undefined {
  if (!worktree) return undefined;
  const gone = here && !existsSync(worktree.path) ? `  ${paint.yellow("removed")}` : "";
  return `${visible(worktree.path)}  ${paint.dim(`branch ${visible(worktree.branch)}`)}${gone}`;
}
