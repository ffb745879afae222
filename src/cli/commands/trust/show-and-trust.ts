import type { Result, TrustState } from "../../../protocol/index.js";
import { confirm } from "../../confirm.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { chosenKinds, kinds, type TrustOptions } from "./kinds.js";

type Described = Result<"workspace/get">;

/** Shows what would be used; trusts exactly that, and only when it is said so. */
export async function showAndTrust(options: TrustOptions): Promise<void> {
  const { found, here } = await withSession(options, async ({ workspace, call, place }) => ({
    found: await call("workspace/get", { workspace_id: (await workspace()).id }),
    here: place !== "elsewhere",
  }));
  const states = statesOf(found, options);
  if (!options.json) tell(found, states, { here, options });
  const wanted = states.filter(({ trusted }) => !trusted);
  const changed = wanted.length > 0 && (await isWanted(options));
  if (changed) await trust(found, wanted, options);
  if (options.json) return printJson(changed ? withTrusted(found, wanted) : found);
  if (changed) for (const { kind } of wanted) print(paint.green(kinds[kind].done));
}

function statesOf({ trust: all = [] }: Described, options: TrustOptions): TrustState[] {
  return chosenKinds(options).flatMap((kind) => all.filter((state) => state.kind === kind));
}

function tell(
  { workspace, warnings = [] }: Described,
  states: readonly TrustState[],
  { here, options }: { here: boolean; options: TrustOptions },
): void {
  for (const warning of warnings) note(paintErr.yellow(visible(warning)));
  const where = workspace.root_path === undefined ? "" : `  ${paint.dim(workspace.root_path)}`;
  if (states.length === 0 && warnings.length === 0) {
    print(`${paint.bold(workspace.name)} has ${nothing(options)}.${where}`);
  }
  for (const [index, state] of states.entries()) {
    const { title, lines, trusted, untrusted } = kinds[state.kind];
    if (index > 0) print("");
    print(`${paint.bold(`${title} of ${workspace.name}`)}${where}`);
    print(...lines(state.content, here ? workspace.root_path : undefined));
    print(paint.dim(`sha256  ${state.content_sha256}`));
    print(state.trusted ? paint.green(trusted) : paint.yellow(untrusted));
  }
}

function nothing({ kind }: TrustOptions): string {
  if (kind === undefined) return "no worktree hooks, no heddle.config.json and no .mcp.json";
  return { hooks: "no worktree hooks", config: "no heddle.config.json", mcp: "no .mcp.json" }[kind];
}

/** Where nobody can be asked, showing is all that is done. */
async function isWanted({ yes, json, kind }: TrustOptions): Promise<boolean> {
  if (yes) return true;
  if (json) return false;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) {
    const only = kind === undefined ? "" : ` --kind ${kind}`;
    note(paintErr.dim(`\`heddle trust${only} --yes\` trusts exactly this.`));
    return false;
  }
  await confirm("Let exactly this run on your machine?", {});
  return true;
}

/** The gateway compares the hash: what was changed while a person was reading is not trusted. */
async function trust(
  { workspace }: Described,
  wanted: readonly TrustState[],
  options: TrustOptions,
): Promise<void> {
  await withSession(options, async ({ call }) => {
    for (const { kind, content_sha256 } of wanted) {
      await call("workspace/trust", { workspace_id: workspace.id, kind, content_sha256 });
    }
  });
}

function withTrusted(found: Described, wanted: readonly TrustState[]): Described {
  return {
    ...found,
    trust: (found.trust ?? []).map((each) => (wanted.includes(each) ? { ...each, trusted: true } : each)),
  };
}
