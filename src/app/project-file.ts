import { lstatSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { type HeddleConfig, parseConfig } from "../agents/index.js";
import { findSecret } from "../atsf/index.js";
import { sha256 } from "../base/index.js";
import type { ProjectFile } from "../threads/index.js";
import { CONFIG_NAME, readBytes, unreadable } from "./config-file.js";

/** The files in a project's root that name what is used for it once they are trusted. */
export const PROJECT_FILES = { config: CONFIG_NAME, mcp: ".mcp.json" } as const;
export type ProjectFileKind = keyof typeof PROJECT_FILES;

/** One of them as it stands there now. */
export interface ReadProjectFile extends ProjectFile {
  readonly path: string;
  /** Of the file itself: comments count here, and in what is trusted they do not. */
  readonly bytesSha256: string;
  readonly config: HeddleConfig;
  readonly warnings: readonly string[];
}

/** Undefined when there is none. Throws what a person can do about one that can't be used. */
export function readProjectFile(
  root: string,
  kind: ProjectFileKind,
  env: NodeJS.ProcessEnv,
): ReadProjectFile | undefined {
  const path = join(root, PROJECT_FILES[kind]);
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  const { bytes, text } = readBytes(insideOf(root, path));
  const { config, warnings, written } = parseConfig(text, { file: path, env, directory: root });
  // Others read a project's files, and so does whoever is shown what to trust.
  if (findSecret(written) !== undefined) throw unreadable(path, "secret");
  const content = JSON.stringify(written);
  return {
    kind,
    path,
    content,
    sha256: sha256(content),
    bytesSha256: sha256(bytes),
    config,
    warnings: [...warnings.map(({ message }) => message), ...unused(kind, path, config)],
  };
}

/** A link would have the user trust a file that others can change, or show one that is none of the project's. */
function insideOf(root: string, path: string): string {
  const real = realPath(path);
  if (real.startsWith(realpathSync(root) + sep)) return real;
  throw unreadable(path, "leads_out");
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    throw unreadable(path, "missing", error);
  }
}

/** What a project may not decide, or not for one workspace alone, is said rather than passed over. */
function unused(kind: ProjectFileKind, path: string, config: HeddleConfig): string[] {
  const isMcp = kind === "mcp";
  const named = {
    agents: isMcp && config.agents.length > 0,
    limits: isMcp && Object.keys(config.ownLimits).length > 0,
    hooks: config.hooks.length > 0,
    plugins: Object.keys(config.plugins.open()).length > 0,
  };
  return Object.entries(named)
    .filter(([, isNamed]) => isNamed)
    .map(([key]) => `${path}: ${key} of a project are not used. They belong into your own ${CONFIG_NAME}.`);
}
