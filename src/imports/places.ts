import { dirname, join } from "node:path";
import type { Tool } from "./session.js";

type Env = Readonly<Record<string, string | undefined>>;

/** Where each tool keeps its sessions, by its own variables; none where nobody has a home. */
export type SessionPlaces = Readonly<Record<Tool, string | undefined>>;

export function sessionPlaces(env: Env): SessionPlaces {
  const home = env.HOME ?? env.USERPROFILE;
  const below = (...names: string[]) => (home ? join(home, ...names) : undefined);
  const data = env.XDG_DATA_HOME ? join(env.XDG_DATA_HOME, "opencode") : below(".local/share/opencode");
  const database = env.OPENCODE_DB;
  return {
    claude: env.CLAUDE_CONFIG_DIR || below(".claude"),
    codex: env.CODEX_HOME || below(".codex"),
    pi: env.PI_CODING_AGENT_DIR || below(".pi/agent"),
    opencode: database?.startsWith("/") ? dirname(database) : data,
  };
}
