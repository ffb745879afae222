import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isMissing, writeAtomic } from "./files.js";
import { ensureGitignore } from "./gitignore.js";
import { ENVELOPE, LOG } from "./layout.js";
import { readLog } from "./log/read.js";
import { readTail, setTornAside } from "./log/torn.js";
import { openProject, type Project } from "./project.js";
import { countIn, emptyStats } from "./stats.js";
import { type Problem, validate } from "./validate.js";
import { SPEC_VERSION } from "./version.js";

export interface Repair {
  readonly problem: Problem;
  /** What was done; a file that was replaced stays beside the new one. */
  readonly done: string;
}

/** Mends what can be mended without losing a byte: what is replaced or cut is kept beside it. */
export async function* repair(root: string, options: { now?: () => number } = {}): AsyncGenerator<Repair> {
  const project = await openProject(root, options);
  const now = options.now ?? Date.now;
  try {
    for await (const problem of validate(project.root)) {
      if (problem.repairable) yield { problem, done: await mend(project, problem, now) };
    }
  } finally {
    await project.close();
  }
}

async function mend(project: Project, problem: Problem, now: () => number): Promise<string> {
  const dir = dirname(problem.file);
  if (basename(problem.file) === ".gitignore") {
    await ensureGitignore(project.root);
    return "wrote the default .gitignore";
  }
  if (problem.problem === "torn") return project.locked(dir, () => putTornAside(join(dir, LOG), now()));
  if (problem.problem === "stale_stats" || problem.problem === "no_version") {
    const thread = await project.thread(basename(dir));
    if (problem.problem === "no_version") await thread.change([]);
    else await thread.refreshDerived();
    return problem.problem === "no_version" ? "added specVersion" : "counted the log anew";
  }
  return project.locked(dir, () => rebuildEnvelope(project.root, dir, now()));
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

/** What the log tells is enough for an envelope; who the agent was, nobody knows any more. */
async function rebuildEnvelope(root: string, dir: string, now: number): Promise<string> {
  const file = join(dir, ENVELOPE);
  const aside = `${ENVELOPE}.broken-${new Date(now).toISOString().replaceAll(":", "-")}`;
  const kept = await rename(file, join(dir, aside)).then(
    () => true,
    (error) => {
      if (isMissing(error)) return false;
      throw error;
    },
  );
  const { messages } = await readLog(join(dir, LOG));
  const time = new Date(now).toISOString();
  const envelope = {
    specVersion: SPEC_VERSION,
    threadId: basename(dir),
    title: firstLine(messages) ?? "Recovered thread",
    createdAt: messages[0]?.timestamp ?? time,
    updatedAt: messages.at(-1)?.timestamp ?? time,
    agent: { id: "unknown", name: "Unknown agent" },
    context: { workingDir: root, relativeDir: "." },
    stats: messages.reduce(countIn, emptyStats()),
    metadata: {},
  };
  await writeAtomic(file, `${JSON.stringify(envelope, null, 2)}\n`);
  return kept ? `made a new one from the log; the old one is ${aside}` : "made a new one from the log";
}

function firstLine(
  messages: readonly { role: string; content: readonly { type: string; text?: unknown }[] }[],
) {
  const block = messages.find(({ role }) => role === "user")?.content.find(({ type }) => type === "text");
  const line = typeof block?.text === "string" ? block.text.trim().split("\n")[0] : undefined;
  return line ? [...line].slice(0, 60).join("") : undefined;
}
