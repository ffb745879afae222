import { git, gitFailed, isOutside } from "./git.js";

export interface Worktree {
  readonly path: string;
  readonly branch?: string;
  /** Absent before the first commit. */
  readonly commit?: string;
  readonly bare: boolean;
  readonly detached: boolean;
  /** Why it is locked, "" when no reason was given. */
  readonly locked?: string;
  /** Its directory is gone. */
  readonly prunable: boolean;
}

const USAGE = 129;

/** The checkouts of the repository a directory stands in, the main one first; none outside git. */
export async function listWorktrees(dir: string): Promise<Worktree[]> {
  const args = ["worktree", "list", "--porcelain", "-z"];
  let answer = await git(dir, args);
  let end = "\0";
  // git before 2.36 does not know -z; without it only a path with a line break is misread.
  if (answer.exitCode === USAGE) {
    answer = await git(dir, args.slice(0, -1));
    end = "\n";
  }
  if (isOutside(answer)) return [];
  if (answer.exitCode !== 0 || answer.cut) throw gitFailed(args, answer.words, answer.exitCode);
  return answer.stdout
    .split(end + end)
    .filter((entry) => entry !== "")
    .map((entry) => parse(entry.split(end)));
}

function parse(lines: readonly string[]): Worktree {
  const fields = new Map(
    lines.map((line) => {
      const space = line.indexOf(" ");
      return space < 0 ? ([line, ""] as const) : ([line.slice(0, space), line.slice(space + 1)] as const);
    }),
  );
  const branch = fields.get("branch")?.replace(/^refs\/heads\//, "");
  const commit = fields.get("HEAD");
  const locked = fields.get("locked");
  return {
    path: fields.get("worktree") ?? "",
    ...(branch === undefined ? {} : { branch }),
    ...(commit === undefined || /^0+$/.test(commit) ? {} : { commit }),
    bare: fields.has("bare"),
    detached: fields.has("detached"),
    ...(locked === undefined ? {} : { locked }),
    prunable: fields.has("prunable"),
  };
}
