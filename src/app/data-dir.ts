import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { failures, type HeldLock, randomSecret, takeLock } from "../base/index.js";
import { storeError } from "../store/index.js";

/** How a running gateway is found: written when it accepts requests, removed when it stops. */
export interface GatewayAddress {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

type DataDirFailure = { kind: "data_dir.unusable"; data_dir: string };
const dataDirError = failures<DataDirFailure>();

/** `--data`, else `$XDG_DATA_HOME/heddle`, else `~/.local/share/heddle`. */
export function dataDirectory(given: string | undefined, env: NodeJS.ProcessEnv): string {
  if (given) return resolve(given);
  return join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "heddle");
}

/** Makes the directory if need be and takes it for this process: one writing gateway per data directory. */
export function lockDataDirectory(dir: string): HeldLock {
  let lock: HeldLock | undefined;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    // SQLite makes files that others may read; in a directory that was there before, that is nobody's choice.
    makePrivate(join(dir, "gateway.lock"));
    lock = takeLock(join(dir, "gateway.lock"));
  } catch (error) {
    throw unusable(dir, error);
  }
  if (lock) {
    // Whoever left an address here is gone: a killed gateway can't remove its own.
    removeAddress(dir);
    return lock;
  }
  const holder = readAddress(dir);
  throw storeError(
    { kind: "store.taken", data_dir: dir, ...(holder && { pid: holder.pid }) },
    `Another gateway is using ${dir}${holder ? ` (process ${holder.pid}, ${holder.url})` : ""}. Use that one, stop it first, or give this one its own directory with --data.`,
  );
}

function unusable(dir: string, error: unknown) {
  const file = fileInTheWay(dir);
  const why = error instanceof Error ? error.message : String(error);
  const message =
    file === undefined
      ? `The data directory ${dir} can't be used (${why}). Check its permissions, or choose another with --data.`
      : `${dir} can't be the data directory: ${file === dir ? "it" : file} is not a directory. Choose another with --data.`;
  return dataDirError({ kind: "data_dir.unusable", data_dir: dir }, message, error);
}

/** The deepest part of a path that is there, when it is no directory: nothing can be made in it, whatever its permissions. */
function fileInTheWay(dir: string): string | undefined {
  let path = dir;
  while (!existsSync(path) && dirname(path) !== path) path = dirname(path);
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === false ? path : undefined;
}

export function readAddress(dir: string): GatewayAddress | undefined {
  try {
    const { url, token, pid } = JSON.parse(readFileSync(addressFile(dir), "utf8"));
    return typeof url === "string" && typeof token === "string" && typeof pid === "number"
      ? { url, token, pid }
      : undefined;
  } catch {
    return undefined;
  }
}

export function writeAddress(dir: string, address: GatewayAddress): void {
  writePrivate(addressFile(dir), JSON.stringify(address));
}

export function removeAddress(dir: string): void {
  rmSync(addressFile(dir), { force: true });
}

/** The token of this data directory: the same from one start to the next, so that clients stay signed in. */
export function persistentToken(dir: string): string {
  const file = join(dir, "token");
  try {
    const token = readFileSync(file, "utf8").trim();
    if (token.length >= 32) return token;
  } catch {
    // The first start: there is none yet.
  }
  const token = randomSecret();
  writePrivate(file, token);
  return token;
}

/** Makes an empty file for its owner alone; one that is there stays as it is. */
export function makePrivate(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function addressFile(dir: string): string {
  return join(dir, "gateway.json");
}

/** Whole or not at all, and readable by its owner only. The lock's holder alone writes: what one that was killed left is used up. */
function writePrivate(file: string, text: string): void {
  const temporary = `${file}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
  renameSync(temporary, file);
}
