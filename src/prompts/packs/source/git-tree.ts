import { unreadable } from "../../errors.js";
import { git } from "./git.js";
import { type FoundFile, LARGEST_FILE, NO_FILE, type PackSource, TOO_LARGE } from "./source.js";

/** A directory as a commit has it. The directory may be anywhere in its repository. */
export async function gitTree(root: string, version: string): Promise<PackSource> {
  const prefix = await prefixOf(root, version);
  const commit = await commitOf(root, version);
  const tree = { root, commit, prefix };
  return {
    version: commit,
    read: (path) => readFile(tree, path),
    async list(directory) {
      const entries = await entriesAt(tree, `${directory}/`);
      if ("why" in entries) throw unreadable("read", `${directory} can't be read: ${entries.why}.`);
      return entries.map(({ path }) => path.slice(path.lastIndexOf("/") + 1));
    },
  };
}

interface Tree {
  readonly root: string;
  readonly commit: string;
  /** From the root of the repository, with a slash at its end where there is one. */
  readonly prefix: string;
}

async function prefixOf(root: string, version: string): Promise<string> {
  const answer = await git(root, ["rev-parse", "--show-prefix"]);
  if ("stdout" in answer) return answer.stdout.toString("utf8").replace(/\n$/, "");
  const why = answer.outside ? `${root} is not in a git repository. Leave the version out` : answer.why;
  throw unreadable("resolve", `The version ${version} can't be read: ${why}.`);
}

/** Asked for on standard input: whatever a version looks like, it is never an option. */
async function commitOf(root: string, version: string): Promise<string> {
  const named = !/\p{Cc}/u.test(version);
  const answer = named
    ? await git(root, ["cat-file", "--batch-check"], `${version}^{commit}\n`)
    : { why: "it has a control character" };
  if ("why" in answer) throw unreadable("resolve", `The version ${version} can't be read: ${answer.why}.`);
  const told = answer.stdout.toString("utf8");
  const [, commit] = /^([0-9a-f]{40}|[0-9a-f]{64}) commit \d+\n$/.exec(told) ?? [];
  if (commit !== undefined) return commit;
  const why = told.endsWith(" ambiguous\n") ? "it stands for several commits" : "there is no such commit";
  throw unreadable("resolve", `The version ${version} can't be read: ${why} in this repository.`);
}

interface Entry {
  readonly mode: string;
  readonly hash: string;
  readonly size: number;
  readonly path: string;
}

/** What a commit has at a path; with a slash at its end, in it. Git follows no link on the way. */
async function entriesAt({ root, commit, prefix }: Tree, path: string): Promise<Entry[] | { why: string }> {
  const answer = await git(root, ["ls-tree", "-l", "-z", "--full-tree", "--", commit, `${prefix}${path}`]);
  if ("why" in answer) return answer;
  const lines = answer.stdout.toString("utf8").split("\0").slice(0, -1);
  return lines.flatMap((line) => {
    const [, mode = "", hash = "", size = "", name = ""] =
      /^(\d+) \w+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s.exec(line) ?? [];
    return mode === "" ? [] : [{ mode, hash, size: Number(size), path: name }];
  });
}

const FILE = /^100/;
const LINK = "120000";

async function readFile(tree: Tree, path: string): Promise<FoundFile> {
  const entries = await entriesAt(tree, path);
  if ("why" in entries) return { problem: `can't be read: ${entries.why}` };
  const entry = entries.find((each) => each.path === `${tree.prefix}${path}`);
  if (!entry) return { missing: true };
  if (entry.mode === LINK) return { problem: "is a link. Links are not followed in a commit" };
  if (!FILE.test(entry.mode)) return { problem: NO_FILE };
  if (entry.size > LARGEST_FILE) return { problem: TOO_LARGE };
  const answer = await git(tree.root, ["cat-file", "blob", entry.hash]);
  return "why" in answer ? { problem: `can't be read: ${answer.why}` } : { bytes: answer.stdout };
}
