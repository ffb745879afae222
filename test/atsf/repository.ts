import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { vi } from "vitest";
import { temporaryDirectory } from "../support/stores.js";

/** A git that knows nothing of the machine: a home of its own, the configuration given here, an identity. */
export function ownGit(configuration: (home: string) => string = () => ""): string {
  const home = realpathSync(temporaryDirectory());
  writeFileSync(join(home, "gitconfig"), `[init]\n\tdefaultBranch = main\n${configuration(home)}`);
  const own = {
    HOME: home,
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_AUTHOR_NAME: "Ada",
    GIT_AUTHOR_EMAIL: "ada@example.org",
    GIT_COMMITTER_NAME: "Ada",
    GIT_COMMITTER_EMAIL: "ada@example.org",
  };
  for (const [name, value] of Object.entries(own)) vi.stubEnv(name, value);
  return home;
}

export interface Repository {
  readonly dir: string;
  git(...args: string[]): string;
  /** Writes files, given by their paths. */
  write(files: Record<string, string>): void;
  commit(files: Record<string, string>): string;
}

export function repositoryAt(dir: string): Repository {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: dir, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trimEnd();
  const write = (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
  };
  return {
    dir,
    git,
    write,
    commit(files) {
      write(files);
      git("add", "--", ...Object.keys(files));
      git("commit", "-q", "-m", Object.keys(files).join(" "));
      return git("rev-parse", "HEAD");
    },
  };
}

/** A repository with one commit, and a directory beside it for worktrees. */
export function freshRepository(files: Record<string, string> = { "a.txt": "a\n" }) {
  const root = realpathSync(temporaryDirectory());
  const dir = join(root, "project");
  mkdirSync(dir);
  const repository = repositoryAt(dir);
  repository.git("init", "-q");
  const commit = repository.commit(files);
  return { ...repository, first: commit, worktrees: join(root, "data", "worktrees") };
}

export function script(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}
