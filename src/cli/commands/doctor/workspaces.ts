import { existsSync } from "node:fs";
import { join } from "node:path";
import { threadNames } from "../../../atsf/index.js";
import type { Workspace } from "../../../protocol/index.js";
import { readAddress } from "../../connect/data-dir.js";
import type { Link } from "../../connect/link.js";
import { connectTo } from "../../connect/reach.js";
import { count } from "../../output.js";
import { listWorkspaces } from "../../workspace-choice.js";
import type { Check } from "./check.js";

const name = "projects";

/** Asks the running gateway for its workspaces: whether their directories are there, and what is wrong with their files. */
export async function checkWorkspaces(dataDir: string): Promise<Check[]> {
  const address = readAddress(dataDir);
  if (!address) return [];
  const link = await connectTo(address);
  try {
    const workspaces = await listWorkspaces(link.client);
    const wrong: Check[] = [];
    for (const workspace of workspaces) wrong.push(...(await problemsOf(link, workspace)));
    const bound = workspaces.filter(({ root_path }) => root_path !== undefined).length;
    const detail = `${count(workspaces.length, "workspace")}, ${bound} with a directory`;
    return wrong.length > 0 ? wrong : [{ name, verdict: "ok", detail }];
  } finally {
    await link.close();
  }
}

async function problemsOf({ client }: Link, { id, name: called, root_path }: Workspace): Promise<Check[]> {
  if (root_path !== undefined && !existsSync(root_path)) {
    const detail = `the directory of ${called} is not there: ${root_path}`;
    const advice = `bring it back, or say where it is now: heddle workspaces bind ${id} DIR`;
    return [{ name, verdict: "warning", detail, advice }];
  }
  const unread = root_path === undefined ? [] : await unreadThreads(called, root_path);
  const { warnings = [] } = await client.call("workspace/get", { workspace_id: id });
  return [
    ...unread,
    ...warnings.map((warning): Check => ({ name, verdict: "warning", detail: `${called}: ${warning}` })),
  ];
}

/** Its list goes on showing what was known of them: nobody would notice. */
async function unreadThreads(called: string, root: string): Promise<Check[]> {
  try {
    await threadNames(root);
    return [];
  } catch (error) {
    const detail = `${called}: its threads can't be read: ${(error as Error).message.replace(/\.$/, "")}`;
    const advice = `make ${join(root, ".agent", "threads")} a directory that Heddle may read`;
    return [{ name, verdict: "warning", detail, advice }];
  }
}
