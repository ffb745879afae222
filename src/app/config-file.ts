import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ConfigWarning, type HeddleConfig, parseConfig } from "../agents/index.js";
import { failures, HeddleError } from "../base/index.js";
import { PLUGIN_IDS } from "./compose-plugins.js";

type ConfigFileFailure = {
  kind: "config.unreadable";
  file: string;
  problem: "missing" | "not_a_file" | "too_large" | "not_utf8" | "not_readable" | "leads_out" | "secret";
};
const configFileError = failures<ConfigFileFailure>();

export interface ConfigPlace {
  /** `--config` */
  readonly file?: string | undefined;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface FoundConfig {
  readonly config?: HeddleConfig;
  readonly warnings: readonly ConfigWarning[];
  /** Absolute. */
  readonly file?: string;
}

const LARGEST = 1024 * 1024;

/**
 * Reads the file that `--config` names, which must be there, else `heddle.config.json` in the data directory, if it is there. A
 * file that can't be used is never passed over: without it every agent would be free of its limits.
 */
export function readConfigFile({ file: named, dataDir, env }: ConfigPlace): FoundConfig {
  const file = placeOf({ file: named, dataDir });
  if (named === undefined && !exists(file)) return { warnings: [] };
  const { text } = readBytes(file);
  const { config, warnings } = parseConfig(text, {
    file,
    env,
    directory: dirname(file),
    plugins: PLUGIN_IDS,
  });
  return { config, warnings, file };
}

/** Where the configuration is, or would be. */
export function placeOf({ file, dataDir }: Pick<ConfigPlace, "file" | "dataDir">): string {
  return resolve(file ?? join(dataDir, CONFIG_NAME));
}

export const CONFIG_NAME = "heddle.config.json";

/** A file of at most 1 MiB, word for word, and the same without its byte order mark. */
export function readBytes(file: string): { readonly bytes: Buffer; readonly text: string } {
  const bytes = readBounded(file);
  return { bytes, text: decoded(bytes, file) };
}

/** Also a link that leads nowhere is there: someone wanted a configuration. */
function exists(file: string): boolean {
  try {
    lstatSync(file);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw unreadable(file, "not_readable", error);
  }
}

/** Without `O_NONBLOCK` a pipe nobody writes to would hold up the start. */
const READ = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

function readBounded(file: string): Buffer {
  let handle: number | undefined;
  try {
    handle = openSync(file, READ);
    if (!fstatSync(handle).isFile()) throw unreadable(file, "not_a_file");
    return contentOf(handle, file);
  } catch (error) {
    if (error instanceof HeddleError) throw error;
    throw unreadable(file, isMissing(error) ? "missing" : "not_readable", error);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

/** One byte more than may be tells that there is more, whatever the size was a moment ago. */
function contentOf(handle: number, file: string): Buffer {
  const buffer = Buffer.alloc(LARGEST + 1);
  let filled = 0;
  while (filled < buffer.length) {
    const got = readSync(handle, buffer, filled, buffer.length - filled, null);
    if (got === 0) return buffer.subarray(0, filled);
    filled += got;
  }
  throw unreadable(file, "too_large");
}

function decoded(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw unreadable(file, "not_utf8", error);
  }
}

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}

const problems: Readonly<Record<ConfigFileFailure["problem"], string>> = {
  missing: "There is no such file. Make one, or name another with --config",
  not_a_file: "It is no regular file. Put one in its place",
  too_large: "It has more than 1 MiB. Make it smaller",
  not_utf8: "It is not text in UTF-8. Save it as that",
  not_readable: "It can't be read. Check its permissions",
  leads_out: "It is a link that leads out of its project. Replace it by what it leads to",
  secret:
    "Something in it looks like a key or token, and others can read it. Write $" +
    "{NAME} in its place, and set that variable",
};

export function unreadable(file: string, problem: ConfigFileFailure["problem"], cause?: unknown) {
  return configFileError(
    { kind: "config.unreadable", file, problem },
    `The configuration ${file} can't be used: ${problems[problem]}.`,
    cause,
  );
}
