import type { WorkspaceOptions } from "../../options.js";
import { paint, print, printJson, printTable, visible } from "../../output.js";
import { withSession } from "../../session.js";

interface PacksOptions extends WorkspaceOptions {
  readonly version?: string;
}

/** The packs of a workspace's directory, those that can't be used with the reason. */
export async function packs(options: PacksOptions): Promise<void> {
  const { version } = options;
  const result = await withSession(options, async (session) => {
    const workspace_id = (await session.workspace()).id;
    return session.call("prompt/packs", { workspace_id, ...(version !== undefined && { version }) });
  });
  if (options.json) return printJson(result);
  if (result.data.length === 0)
    return print(paint.dim("No prompt packs found. One is a file like prompts/packs/default.json."));
  const rows = result.data.map(({ name, path, valid, default: isDefault, error }) => [
    isDefault ? `${visible(name)} ${paint.green("(default)")}` : visible(name),
    valid ? paint.green("usable") : paint.red("not usable"),
    error === undefined ? visible(path) : `${visible(path)}  ${paint.red(visible(error))}`,
  ]);
  printTable(["PACK", "STATE", "FILE"], rows);
}
