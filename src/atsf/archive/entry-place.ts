import { sep } from "node:path";
import { invalidArchive } from "./read-archive.js";

/** Where an entry of an archive belongs. */
export interface EntryPlace {
  /** The archive is that of a project: its threads stand below `.agent/threads`, everything else is something else. */
  readonly inProject: boolean;
  /** Undefined for what is no part of a thread. */
  readonly threadId: string | undefined;
  /** Below the thread's directory, with slashes; empty for the directory itself. */
  readonly path: string;
}

const LONGEST_NAME = 4_096;
const LONGEST_PATH = 1_024;
const LONGEST_PART = 255;

/** Judges an entry by its name. Names that lead out of where they are unpacked are nobody's mistake: the archive is refused. */
export function placeOf(name: string): EntryPlace {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  if (name.startsWith("/") || name.includes("\0") || parts.includes("..")) {
    throw invalidArchive("leads_out", `its entry ${shown(name)} leads out of it`);
  }
  if (name.length > LONGEST_NAME) {
    throw invalidArchive("name_too_long", `the name of its entry ${shown(name)} is too long`);
  }
  const inProject = parts[0] === ".agent";
  if (inProject && parts[1] !== "threads") return { inProject, threadId: undefined, path: "" };
  const [id, ...rest] = inProject ? parts.slice(2) : parts;
  // Directories with a dot in front are never listed as threads.
  if (id === undefined || id.startsWith(".")) return { inProject, threadId: undefined, path: "" };
  // A piece of a string keeps all of it in memory: a hundred thousand long names would add up.
  return { inProject, threadId: Buffer.from(id).toString(), path: rest.join("/") };
}

/** Why no file can have this path, on this system or on any; undefined when one can. */
export function unfitPath(path: string): string | undefined {
  const parts = path.split("/");
  if (parts.some((part) => Buffer.byteLength(part) > LONGEST_PART)) {
    return `the name of ${shown(path)} is longer than ${LONGEST_PART} bytes`;
  }
  if (Buffer.byteLength(path) > LONGEST_PATH) return `the path ${shown(path)} is too long`;
  // There a backslash leads elsewhere and a colon names a hidden stream.
  if (sep === "\\" && /[\\:*?"<>|]/.test(path)) return `${shown(path)} can't be a file's name on this system`;
  return undefined;
}

export function shown(name: string): string {
  return JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
}
