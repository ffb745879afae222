import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { inherited } from "./saved.js";
import { asArgument, findScope } from "./scope.js";

interface ArchiveOptions extends WorkspaceOptions {
  readonly expectedVersion?: number;
}

export async function archive(folder: string | undefined, options: ArchiveOptions): Promise<void> {
  const { expectedVersion } = options;
  const { scope, result } = await withSession(options, async (session) => {
    const scope = await findScope(session, folder);
    const result = await session.call("thread/agents_doc/archive", {
      ...scope.params,
      ...(expectedVersion !== undefined && { expected_version: expectedVersion }),
    });
    return { scope, result };
  });
  if (options.json) return printJson(result);
  if (!result.archived || !scope.own)
    return print(`${scope.name} has no AGENTS.md of its own. Nothing was changed.`);
  const { id, version } = scope.own;
  print(`Archived the AGENTS.md of ${paint.bold(scope.name)}; ${inherited(scope)}`);
  note(
    paintErr.dim(`Undo: heddle agents-md history ${asArgument(scope.name)} --restore ${version} --doc ${id}`),
  );
}
