/** Belongs to git and to threads: no prompt is read from there. */
const OTHERS = new Set([".git", ".agent"]);

export type AcceptedPath = { readonly path: string } | { readonly problem: string };

/** A path within a workspace's directory, without detours. Where links on the way lead is looked at when it is read. */
export function acceptPath(given: string): AcceptedPath {
  if (given.startsWith("/") || /^[A-Za-z]:/.test(given)) return { problem: "is not a relative path" };
  if (given.includes("\\") || /\p{Cc}/u.test(given))
    return { problem: "has a character that no such path may have" };
  const parts = given.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) return { problem: "leads out of the workspace's directory" };
  if (parts.length === 0) return { problem: "names no file" };
  return isOthers(parts) ? { problem: OTHERS_PROBLEM } : { path: parts.join("/") };
}

export const OTHERS_PROBLEM = "is in .git or .agent, where no prompts are read";

/** Whatever the case of the letters: some systems do not tell it apart. */
export function isOthers(parts: readonly string[]): boolean {
  return parts.some((part) => OTHERS.has(part.toLowerCase()));
}
