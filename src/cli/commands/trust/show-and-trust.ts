import type { Result, TrustState } from "../../../protocol/index.js";
import { confirm } from "../../confirm.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { hooksLines } from "./hooks-text.js";

type Options = WorkspaceOptions & { readonly yes?: boolean };
type Described = Result<"workspace/get">;

const KIND = "worktree_hooks";

/** Shows what would run; trusts exactly that, and only when it is said so. */
export async function showAndTrust(options: Options): Promise<void> {
  const { found, here } = await withSession(options, async ({ workspace, call, place }) => ({
    found: await call("workspace/get", { workspace_id: (await workspace()).id }),
    here: place !== "elsewhere",
  }));
  const hooks = found.trust?.find(({ kind }) => kind === KIND);
  if (!options.json) tell(found, hooks, here);
  const changed = hooks !== undefined && !hooks.trusted && (await isWanted(options));
  if (changed) await trust(found, hooks, options);
  if (options.json) return printJson(changed ? withTrusted(found) : found);
  if (changed) print(paint.green("Trusted: they run whenever a thread of this project gets a worktree."));
}

function tell({ workspace, warnings = [] }: Described, hooks: TrustState | undefined, here: boolean): void {
  for (const warning of warnings) note(paintErr.yellow(visible(warning)));
  const where = workspace.root_path === undefined ? "" : `  ${paint.dim(workspace.root_path)}`;
  if (!hooks) {
    if (warnings.length === 0) print(`${paint.bold(workspace.name)} has no worktree hooks.${where}`);
    return;
  }
  const lines = hooksLines(hooks.content, here ? workspace.root_path : undefined);
  print(`${paint.bold(`Worktree hooks of ${workspace.name}`)}${where}`, ...lines);
  print(paint.dim(`sha256  ${hooks.content_sha256}`));
  print(
    hooks.trusted
      ? paint.green("They are trusted.")
      : paint.yellow("They are not trusted: worktrees are made without them."),
  );
}

/** Where nobody can be asked, showing is all that is done. */
async function isWanted({ yes, json }: Options): Promise<boolean> {
  if (yes) return true;
  if (json) return false;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    note(paintErr.dim("`heddle trust --yes` trusts exactly this."));
    return false;
  }
  await confirm("Let exactly this run on your machine?", {});
  return true;
}

/** The gateway compares the hash: what was changed while a person was reading is not trusted. */
async function trust(
  { workspace }: Described,
  { content_sha256 }: TrustState,
  options: Options,
): Promise<void> {
  await withSession(options, ({ call }) =>
    call("workspace/trust", { workspace_id: workspace.id, kind: KIND, content_sha256 }),
  );
}

function withTrusted(found: Described): Described {
  return {
    ...found,
    trust: (found.trust ?? []).map((each) => (each.kind === KIND ? { ...each, trusted: true } : each)),
  };
}
