import type { Session } from "../../session.js";
import type { ImportOptions } from "./options.js";

/** Which sessions are meant: those of a workspace, or of the directory the command runs in where it has none yet. */
export interface Scope {
  readonly workspace_id: string;
  /** For people. */
  readonly name: string;
  readonly directory?: string;
}

export async function scopeOf(session: Session, options: ImportOptions): Promise<Scope> {
  const { id: workspace_id, name, root_path } = await session.workspace();
  const hasOwn = root_path !== undefined || options.workspace !== undefined || session.place === "elsewhere";
  if (hasOwn) return { workspace_id, name };
  const { readGitHead } = await import("../../../atsf/index.js");
  const directory = readGitHead(process.cwd())?.top ?? process.cwd();
  return { workspace_id, name: directory, directory };
}
