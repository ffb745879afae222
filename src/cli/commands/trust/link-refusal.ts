import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { leadsOut, readGitHead } from "../../../atsf/index.js";
import { isWithin } from "../../workspace-choice.js";

interface Link {
  readonly source: string;
  readonly target?: string | undefined;
}

/** Why the set-up of a worktree would refuse a link because it leads out; undefined when it would not, as far as can be seen. */
export function linkRefusal(
  { source, target = source }: Link,
  project: string | undefined,
): string | undefined {
  if (leadsOut(source)) return `${JSON.stringify(source)} is no path below the repository's root`;
  if (leadsOut(target)) return `${JSON.stringify(target)} is no path below the worktree's root`;
  if (project === undefined || staysInside(readGitHead(project)?.top ?? project, source)) return undefined;
  return `a link on the way to ${source} leads out of the repository`;
}

/** The source itself may be a link to anywhere; what is not there yet leads nowhere. */
function staysInside(repository: string, source: string): boolean {
  try {
    return isWithin(realpathSync(dirname(join(repository, source))), realpathSync(repository));
  } catch {
    return true;
  }
}
