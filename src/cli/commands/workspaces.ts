import { resolve } from "node:path";
import type { Command } from "commander";
import { confirm } from "../confirm.js";
import { UsageError } from "../errors.js";
import { examples, type GatewayOptions, gatewayOptions } from "../options.js";
import { note, paint, paintErr, print, printJson, printTable } from "../output.js";
import { withSession } from "../session.js";
import { chooseWorkspace, findWorkspace, listWorkspaces } from "../workspace-choice.js";

type Options = GatewayOptions;

export function addWorkspaces(program: Command): void {
  const group = program
    .command("workspaces")
    .summary("list, create, rename, bind or delete workspaces")
    .description("trees of threads, usually one for each project directory");
  gatewayOptions(group.command("list").description("list them (what `heddle workspaces` does)")).action(list);
  examples(
    gatewayOptions(
      group
        .command("create")
        .description("make a workspace for a directory; a directory that has one keeps it")
        .argument("[dir]", "the project directory")
        .option("--name <name>", "its name (default: the directory's)"),
    ),
    "heddle workspaces create .",
    'heddle workspaces create --name "Reading list"    one without a directory',
  ).action(create);
  gatewayOptions(
    group
      .command("rename")
      .description("rename a workspace")
      .argument("<workspace>", "id, directory or name")
      .argument("<name>", "its new name"),
  ).action(rename);
  examples(
    gatewayOptions(
      group
        .command("bind")
        .description(
          "bind a workspace to another directory, as when its project was moved; its threads and runs stay its own",
        )
        .argument("<workspace>", "id, directory (the old one, too) or name")
        .argument("<dir>", "the directory it is for from now on"),
    ),
    "heddle workspaces bind shop ~/work/shop",
  ).action(bind);
  gatewayOptions(
    group
      .command("delete")
      .description("remove a workspace from every list; files on disk stay, and for 30 days it can come back")
      .argument("<workspace>", "id, directory or name")
      .option("--yes", "do not ask"),
  ).action(remove);
  gatewayOptions(
    group
      .command("undelete")
      .description("bring a deleted workspace back")
      .argument("<id>", "its id, which `delete` printed"),
  ).action(undelete);
}

async function list(options: Options): Promise<void> {
  const data = await withSession(options, ({ client }) => listWorkspaces(client));
  if (options.json) return printJson({ data });
  const here = chooseWorkspace(data);
  const rows = data.map((each) => {
    const name = each.id === here.id ? `${each.name} ${paint.green("(here)")}` : each.name;
    return [paint.dim(each.id), name, each.root_path ?? ""];
  });
  printTable(["ID", "NAME", "DIRECTORY"], rows);
}

async function create(dir: string | undefined, options: Options & { name?: string }): Promise<void> {
  const { name } = options;
  if (dir === undefined && name === undefined) {
    throw new UsageError("Give the directory it is for (`.` is this one), or --name for one without");
  }
  const params = {
    ...(name !== undefined && { name }),
    ...(dir !== undefined && { root_path: resolve(dir) }),
  };
  const result = await withSession(options, ({ call }) => call("workspace/create", params));
  if (options.json) return printJson(result);
  const { id, name: called, root_path } = result.workspace;
  const verb = result.created ? "Created" : "There is already";
  print(`${verb} ${paint.bold(called)}  ${paint.dim(id)}${root_path === undefined ? "" : `  ${root_path}`}`);
  if (!result.created && name !== undefined && name !== called) {
    note(paintErr.dim(`It keeps its name; \`heddle workspaces rename ${id} "${name}"\` changes it.`));
  }
}

async function rename(given: string, name: string, options: Options): Promise<void> {
  const result = await withSession(options, async ({ call, client }) => {
    const { id } = findWorkspace(await listWorkspaces(client), given);
    return call("workspace/update", { workspace_id: id, name });
  });
  if (options.json) return printJson(result);
  print(`Renamed to ${paint.bold(result.workspace.name)}  ${paint.dim(result.workspace.id)}`);
}

async function bind(given: string, dir: string, options: Options): Promise<void> {
  const result = await withSession(options, async ({ call, client }) => {
    const { id } = findWorkspace(await listWorkspaces(client), given);
    return call("workspace/update", { workspace_id: id, root_path: resolve(dir) });
  });
  if (options.json) return printJson(result);
  const { id, name, root_path = "" } = result.workspace;
  print(`Bound ${paint.bold(name)} to ${root_path}  ${paint.dim(id)}`);
}

async function remove(given: string, options: Options & { yes?: boolean }): Promise<void> {
  const workspace = await withSession(options, async ({ client }) =>
    findWorkspace(await listWorkspaces(client), given),
  );
  // Asked outside of the session: a private gateway must not keep others out while a person thinks.
  await confirm(`Delete the workspace ${workspace.name}? Files on disk stay.`, options);
  const result = await withSession(options, ({ call }) =>
    call("workspace/delete", { workspace_id: workspace.id }),
  );
  if (options.json) return printJson({ ...result, workspace });
  print(`Deleted ${paint.bold(workspace.name)}`);
  note(paintErr.dim(`Undo within 30 days: heddle workspaces undelete ${workspace.id}`));
}

async function undelete(workspace_id: string, options: Options): Promise<void> {
  const result = await withSession(options, ({ call }) => call("workspace/undelete", { workspace_id }));
  if (options.json) return printJson(result);
  print(`${paint.bold(result.workspace.name)} is back  ${paint.dim(result.workspace.id)}`);
}
