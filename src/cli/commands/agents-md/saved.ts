import type { AgentsDoc } from "../../../protocol/index.js";
import { formatFolderPath } from "../../folder-path.js";
import { note, paint, paintErr, print } from "../../output.js";
import { activeUpwards, type Scope } from "./scope.js";

/** Tells what a save came to. */
export function tellSaved(scope: Scope, doc: AgentsDoc, restored?: number): void {
  if (doc.id === scope.own?.id && doc.version === scope.own.version) {
    print(`Unchanged: the AGENTS.md of ${scope.name} has this text already (version ${doc.version}).`);
    return;
  }
  const name = `the AGENTS.md of ${paint.bold(scope.name)}`;
  print(
    restored === undefined
      ? `Saved ${name}: version ${doc.version}`
      : `Restored version ${restored} of ${name} as version ${doc.version}`,
  );
  if (doc.status === "draft") note(paintErr.yellow(`It is empty, so it does not count: ${inherited(scope)}`));
}

/** What counts in a scope whose own document does not. */
export function inherited(scope: Scope): string {
  const next = activeUpwards(scope).find(({ doc }) => doc.id !== scope.own?.id);
  return next
    ? `in effect is that of ${formatFolderPath(next.path)}, version ${next.doc.version}.`
    : "nothing is in effect.";
}
