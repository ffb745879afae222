const TIMEOUT_MS = 30_000;
const MOST_OUTPUT = 4 * 1024 * 1024;
const MOST_WORDS = 500;

/**
 * What git would take from the environment instead of from the directory it is run in: a gateway started from within
 * a git hook would read that hook's repository. The user's configuration, by whatever variable, stays.
 */
const OWN_REPOSITORY = {
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_COMMON_DIR: undefined,
  GIT_OBJECT_DIRECTORY: undefined,
  GIT_ALTERNATE_OBJECT_DIRECTORIES: undefined,
  GIT_IMPLICIT_WORK_TREE: undefined,
  GIT_NAMESPACE: undefined,
  GIT_PREFIX: undefined,
  GIT_GRAFT_FILE: undefined,
  GIT_SHALLOW_FILE: undefined,
  GIT_INTERNAL_SUPER_PREFIX: undefined,
  GIT_QUARANTINE_PATH: undefined,
};

/** A commit's hash must always stand for the same content, and reading one must not reach for the network. */
const AS_IT_IS = {
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  LC_ALL: "C",
};

export type GitAnswer =
  | { readonly stdout: Buffer }
  /** `why` is what git said, or what kept it from saying anything. */
  | { readonly why: string; readonly outside?: true };

/** Asks the user's git something about a directory. It only reads, and runs neither hooks nor a pager. */
export async function git(dir: string, args: readonly string[], input = ""): Promise<GitAnswer> {
  // Loaded when first needed: most syncs read the working tree.
  const { execa } = await import("execa");
  const result = await execa("git", ["--no-pager", "--literal-pathspecs", ...args], {
    cwd: dir,
    env: { ...OWN_REPOSITORY, ...AS_IT_IS },
    input,
    encoding: "buffer",
    stripFinalNewline: false,
    reject: false,
    maxBuffer: MOST_OUTPUT,
    timeout: TIMEOUT_MS,
  });
  if (result.exitCode === 0 && !result.failed) return { stdout: Buffer.from(result.stdout) };
  if (result.exitCode !== undefined && !result.timedOut && !result.isMaxBuffer) {
    const words = Buffer.from(result.stderr).toString("utf8").trim().slice(-MOST_WORDS).toWellFormed();
    const outside = result.exitCode === 128 && /not a git repository/i.test(words);
    return { why: words || `git ended with exit code ${result.exitCode}`, ...(outside && { outside }) };
  }
  if (result.timedOut) return { why: `git did not answer within ${TIMEOUT_MS / 1000} seconds` };
  if (result.isMaxBuffer) return { why: "git answered more than can be read" };
  return {
    why:
      result.code === "ENOENT"
        ? "git was not found"
        : `git could not be run (${result.code ?? result.signal})`,
  };
}
