import {
  belongsTo,
  type ListedThread,
  openProject,
  ownerOf,
  readGitHead,
  type ThreadEnvelope,
  threadPlaces,
} from "../../../atsf/index.js";

/** A thread of a directory: where it stands, and what its envelope says or why that can't be read. */
export interface FoundThread {
  readonly threadId: string;
  readonly dir: string;
  /** The directory itself, or one of its worktrees. */
  readonly place: string;
  readonly envelope?: ThreadEnvelope;
  readonly error?: string;
}

/** The threads of a project directory and those in the worktrees of its repository, each once, the latest first. */
export async function findThreads(dir: string): Promise<FoundThread[]> {
  const places = await threadPlaces(dir, []);
  const main = places[0] ?? dir;
  const relativeDir = readGitHead(main)?.relativeDir ?? ".";
  const copies = new Map<string, FoundThread[]>();
  for (const place of places) {
    for (const found of await threadsIn(place)) {
      if (place !== main && !isOurs(found, relativeDir)) continue;
      copies.set(found.threadId, [...(copies.get(found.threadId) ?? []), found]);
    }
  }
  const owners = await Promise.all([...copies.values()].map((each) => owner(each, main)));
  return owners.sort((a, b) => time(b) - time(a) || (a.threadId < b.threadId ? -1 : 1));
}

async function threadsIn(place: string): Promise<FoundThread[]> {
  const project = await openProject(place);
  try {
    return (await project.list()).map((listed) => ({ ...described(listed), place }));
  } finally {
    await project.close();
  }
}

function described(listed: ListedThread): Omit<FoundThread, "place"> {
  const { threadId, dir } = listed;
  if ("envelope" in listed) return { threadId, dir, envelope: listed.envelope };
  return {
    threadId,
    dir,
    error: listed.error instanceof Error ? listed.error.message : String(listed.error),
  };
}

/** What stands in a worktree may be another project's of the same repository. */
function isOurs({ envelope }: FoundThread, relativeDir: string): boolean {
  return envelope !== undefined && belongsTo(envelope.context, relativeDir);
}

async function owner(copies: readonly FoundThread[], main: string): Promise<FoundThread> {
  const known = copies.map((copy) => ({ ...copy, context: copy.envelope?.context ?? {} }));
  const chosen = await ownerOf(known, main);
  return copies.find(({ place }) => place === chosen?.place) ?? (copies[0] as FoundThread);
}

function time({ envelope }: FoundThread): number {
  return envelope ? Date.parse(envelope.updatedAt) || 0 : 0;
}
