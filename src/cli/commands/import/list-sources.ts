import type { Result } from "../../../protocol/index.js";
import { count, note, paint, paintErr, printJson, printTable, visible } from "../../output.js";
import { NO_HURRY, withSession } from "../../session.js";
import type { ImportOptions } from "./options.js";
import { scopeOf } from "./scope.js";

type Source = Result<"import/sources">["data"][number];

/** What there would be to import, and what to type for it. */
export async function listSources(options: ImportOptions): Promise<void> {
  const { scope, found } = await withSession(options, async (session) => {
    const scope = await scopeOf(session, options);
    const { workspace_id, directory } = scope;
    const found = await session.call("import/sources", { workspace_id, directory }, NO_HURRY);
    return { scope, found };
  });
  if (options.json) return printJson(found);
  if (found.data.length === 0) {
    note("No sessions of Claude Code, Codex, pi or OpenCode were found on this machine.");
    note(paintErr.dim("To import an archive, name it: heddle import thr_….tar.gz"));
    return;
  }
  printTable(["TOOL", "HERE", "IMPORTED", "ELSEWHERE", "KEPT IN"], found.data.map(row));
  note("", advice(found.data, visible(scope.name)));
}

function row({ name, threads, imported, elsewhere, path }: Source): string[] {
  return [paint.bold(name), `${threads}`, `${imported}`, `${elsewhere}`, visible(path)];
}

function advice(sources: readonly Source[], name: string): string {
  const own = sources.find(({ threads, imported }) => threads > imported);
  if (own) return `To import ${count(own.threads, "session")} of ${name}: heddle import --from ${own.tool}`;
  const other = sources.find(({ elsewhere }) => elsewhere > 0);
  if (other)
    return `Sessions of other directories, each into its own workspace: heddle import --from ${other.tool} --all`;
  return `Everything of ${name} is imported. What is new in a session comes with the next import.`;
}
