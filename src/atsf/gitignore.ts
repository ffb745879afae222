import { createAtomic } from "./files.js";
import { gitignoreFile } from "./layout.js";

/** The format's own file, with `threads/*\/*` added so that what its last comment says is true. */
export const GITIGNORE = `# Agent Thread Storage Format - default .gitignore
# Conversation threads are not committed by default.
# They can be large and may contain sensitive content.

# Ignore message logs and binary assets
threads/*/messages.jsonl
threads/*/assets/

threads/*/*
# Thread metadata is also ignored by default.
# Uncomment the next line to track thread metadata (useful for team awareness):
# !threads/*/thread.json
`;

/** Writes the ignore file where there is none; one that is there is the user's and stays. */
export function ensureGitignore(root: string): Promise<boolean> {
  return createAtomic(gitignoreFile(root), GITIGNORE);
}
