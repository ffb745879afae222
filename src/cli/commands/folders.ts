import type { Command } from "commander";
import type { Folder } from "../../protocol/index.js";
import { confirm } from "../confirm.js";
import { UsageError } from "../errors.js";
import { docsByFolder, Folders, formatFolderPath, parseFolderPath, type Tree } from "../folder-path.js";
import { makeFolders } from "../make-folders.js";
import { examples, type WorkspaceOptions, workspaceOptions } from "../options.js";
import { count, paint, print, printJson, printTable } from "../output.js";
import { type Session, withSession } from "../session.js";

type Options = WorkspaceOptions;

export function addFolders(program: Command): void {
  const group = program
    .command("folders")
    .summary("list, create, rename, move or delete folders")
    .description("folders of the thread tree: they hold threads, other folders and an AGENTS.md");
  workspaceOptions(group.command("list").description("list them (what `heddle folders` does)")).action(list);
  examples(
    workspaceOptions(
      group
        .command("create")
        .description("make a folder, and the ones above it that are missing")
        .argument("<path>", "names joined by /; a / within a name is written \\/"),
    ),
    "heddle folders create Backend/Payments",
    "heddle folders create 'Backend/Input\\/Output'",
  ).action(create);
  workspaceOptions(
    group
      .command("rename")
      .description("rename a folder")
      .argument("<folder>", "path or id")
      .argument("<name>", "its new name, without a path"),
  ).action(rename);
  examples(
    workspaceOptions(
      group
        .command("move")
        .description("move a folder with all it holds, to the end of where it goes")
        .argument("<folder>", "path or id")
        .argument("<new-parent>", "path or id; / is the root")
        .option("--after <folder>", "put it right after this one")
        .option("--first", "put it first"),
    ),
    "heddle folders move Payments Backend",
    "heddle folders move Backend/Payments / --first",
  ).action(move);
  workspaceOptions(
    group
      .command("delete")
      .description("delete a folder: what it holds moves up, its AGENTS.md is archived")
      .argument("<folder>", "path or id")
      .option("--yes", "do not ask"),
  ).action(remove);
}

interface Place {
  readonly workspace_id: string;
  readonly tree: Tree;
  readonly folders: Folders;
}

async function open(session: Session): Promise<Place> {
  const workspace_id = (await session.workspace()).id;
  const tree = await session.call("thread/tree", { workspace_id });
  return { workspace_id, tree, folders: new Folders(tree.folders) };
}

async function list(options: Options): Promise<void> {
  const { folders, tree } = await withSession(options, open);
  const data = [...folders.all()].map((folder) => ({ ...folder, path: folders.pathOf(folder.id) }));
  if (options.json) return printJson({ data });
  if (data.length === 0) return print(paint.dim("No folders yet: heddle folders create NAME"));
  const docs = docsByFolder(tree);
  const rows = data.map(({ id, path }) => {
    const doc = docs.get(id);
    const mark = doc?.status === "draft" ? "draft" : doc ? `version ${doc.version}` : "";
    return [paint.dim(id), mark, formatFolderPath(path)];
  });
  printTable(["ID", "AGENTS.MD", "PATH"], rows);
}

async function create(path: string, options: Options): Promise<void> {
  const names = parseFolderPath(path);
  if (names.length === 0)
    throw new UsageError("Name the folder to make: / is the root, which is always there");
  const { folder, made, folders } = await withSession(options, async (session) => {
    const { workspace_id, folders } = await open(session);
    return { ...(await makeFolders(session, workspace_id, folders, names)), folders };
  });
  if (options.json) return printJson({ folder, created: made });
  for (const each of made) print(`Created ${shown(folders, each)}`);
  if (made.length === 0 && folder) print(`There is already ${shown(folders, folder)}`);
}

async function rename(given: string, name: string, options: Options): Promise<void> {
  const result = await withSession(options, async (session) => {
    const { workspace_id, folders } = await open(session);
    return session.call("thread/folder/rename", {
      workspace_id,
      folder_id: required(folders, given).id,
      name,
    });
  });
  if (options.json) return printJson(result);
  print(`Renamed to ${paint.bold(result.folder.name)}  ${paint.dim(result.folder.id)}`);
}

interface MoveOptions extends Options {
  readonly after?: string;
  readonly first?: boolean;
}

async function move(given: string, parent: string, options: MoveOptions): Promise<void> {
  const { after, first } = options;
  if (after !== undefined && first) throw new UsageError("--after and --first exclude each other");
  const { result, path } = await withSession(options, async (session) => {
    const { workspace_id, folders } = await open(session);
    const folder = required(folders, given);
    const destination = folders.find(parent)?.id;
    const result = await session.call("thread/folder/move", {
      workspace_id,
      folder_id: folder.id,
      ...(destination !== undefined && { parent_folder_id: destination }),
      ...(first && { after_id: null }),
      ...(after !== undefined && { after_id: required(folders, after).id }),
    });
    return { result, path: [...folders.pathOf(destination), folder.name] };
  });
  if (options.json) return printJson(result);
  print(`Moved to ${paint.bold(formatFolderPath(path))}  ${paint.dim(result.folder.id)}`);
}

async function remove(given: string, options: Options & { yes?: boolean }): Promise<void> {
  const { workspace_id, tree, folders } = await withSession(options, open);
  const folder = required(folders, given);
  const path = formatFolderPath(folders.pathOf(folder.id));
  await confirm(`Delete ${path}? ${whatFollows("Moves", { tree, folders, folder })}`, options);
  const result = await withSession(options, ({ call }) =>
    call("thread/folder/delete", { workspace_id, folder_id: folder.id }),
  );
  if (options.json) return printJson({ ...result, folder });
  print(`Deleted ${paint.bold(path)}. ${whatFollows("Moved", { tree, folders, folder })}`);
}

/** What happens to the things in a folder that is deleted. */
function whatFollows(
  verb: string,
  { tree, folders, folder }: { tree: Tree; folders: Folders; folder: Folder },
): string {
  const inside = folders.children(folder.id).length;
  const threads = tree.threads.filter(({ folder_id }) => folder_id === folder.id).length;
  const parent = formatFolderPath(folders.pathOf(folder.parent_folder_id));
  const things = [
    ...(inside > 0 ? [count(inside, "folder")] : []),
    ...(threads > 0 ? [count(threads, "thread")] : []),
  ];
  const moved = things.length > 0 ? `${verb} up to ${parent}: ${things.join(" and ")}.` : "It holds nothing.";
  return docsByFolder(tree).has(folder.id) ? `${moved} Its AGENTS.md is archived.` : moved;
}

function required(folders: Folders, given: string): Folder {
  const folder = folders.find(given);
  if (folder) return folder;
  throw new UsageError("/ is the root of the tree, not a folder");
}

function shown(folders: Folders, { id }: Folder): string {
  return `${paint.bold(formatFolderPath(folders.pathOf(id)))}  ${paint.dim(id)}`;
}
