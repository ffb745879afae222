import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { HeddleError } from "../base/index.js";
import { changeConfig } from "./config.js";
import { ensureGitignore, hideFromGit } from "./gitignore.js";
import { LOG } from "./layout.js";
import { sweep } from "./left-over.js";
import { readTail, setTornAside } from "./log/torn.js";
import type { Problem } from "./problems.js";
import { openProject, type Project } from "./project.js";
import { mendEnvelope } from "./repair-envelope.js";
import { validate } from "./validate.js";
import { SPEC_VERSION } from "./version.js";

export interface Repair {
  readonly problem: Problem;
  /** What was done; a file that was replaced stays beside the new one. Where it failed, why nothing was. */
  readonly done: string;
  readonly failed: boolean;
}

/** Mends what can be mended without losing a byte: what is replaced or cut is kept beside it. */
export async function* repair(root: string, options: { now?: () => number } = {}): AsyncGenerator<Repair> {
  const project = await openProject(root, options);
  const now = options.now ?? Date.now;
  try {
    for await (const problem of validate(project.root)) {
      if (problem.repairable) yield { problem, ...(await mendOrTell(project, problem, now)) };
    }
  } finally {
    await project.close();
  }
}

/** What can't be mended (it may not be written, say) must not keep what comes after it from being mended. */
async function mendOrTell(...given: Parameters<typeof mend>): Promise<Omit<Repair, "problem">> {
  try {
    return { done: await mend(...given), failed: false };
  } catch (error) {
    const isOfDisk = typeof (error as NodeJS.ErrnoException).code === "string";
    if (!isOfDisk && !(error instanceof HeddleError)) throw error;
    return { done: (error as Error).message, failed: true };
  }
}

async function mend(project: Project, { file, problem }: Problem, now: () => number): Promise<string> {
  const dir = dirname(file);
  switch (basename(file)) {
    case ".gitignore":
      await ensureGitignore(project.root);
      return "wrote the default .gitignore";
    case "config.json":
      await changeConfig(project.root, { name: "repair", version: SPEC_VERSION }, []);
      return "added specVersion";
  }
  switch (problem) {
    case "left_over":
      await sweep(dir, Date.now());
      return "removed it";
    case "torn":
      return hidden(dir, () => project.locked(dir, () => putTornAside(join(dir, LOG), now())));
    case "no_version":
      await (await project.thread(basename(dir))).change([]);
      return "added specVersion";
    case "stale_stats":
      await (await project.thread(basename(dir))).refreshDerived({ thorough: true });
      return "counted the log anew";
    default:
      return hidden(dir, () => project.locked(dir, () => mendEnvelope(project.root, dir, now())));
  }
}

/** What is put aside must not show up in git. Where that can't be written, neither can the rest. */
async function hidden(dir: string, work: () => Promise<string>): Promise<string> {
  await hideFromGit(dir).catch(() => {});
  return work();
}

async function putTornAside(log: string, now: number): Promise<string> {
  const file = await open(log, "r+");
  try {
    const tail = await readTail(file, (await file.stat()).size);
    if (!tail.torn) return "the line has been finished meanwhile";
    return `put it aside as ${basename(await setTornAside(log, file, tail, now))}`;
  } finally {
    await file.close();
  }
}
