import type { Command } from "commander";
import type { Thread } from "../../protocol/index.js";
import { Folders, formatFolderPath } from "../folder-path.js";
import { examples, type WorkspaceOptions, wholeNumber, workspaceOptions } from "../options.js";
import { formatTime, note, paint, paintErr, print, printJson, printTable } from "../output.js";
import { type Session, withSession } from "../session.js";

type Options = WorkspaceOptions;

const PAGE = 500;

export function addThreads(program: Command): void {
  const group = program
    .command("threads")
    .summary("list, start, show, rename, pin, move or delete threads")
    .description("threads: conversations, each with one agent");
  addReading(group);
  addChanging(group);
}

function addReading(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("list")
        .description("list them, most recently updated first (what `heddle threads` does)")
        .option("--query <text>", "only those with this in the title")
        .option("--agent <agent>", "only those of this agent")
        .option("--folder <folder>", "only those directly in this folder")
        .option("--limit <number>", "how many at most", wholeNumber(1), 30),
    ),
    "heddle threads --query invoice",
    "heddle threads list --folder Backend/Payments --limit 100",
  ).action(list);
  workspaceOptions(
    group.command("show").description("show one thread").argument("<id>", "the thread's id"),
  ).action(show);
}

function addChanging(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("start")
        .description("make a thread")
        .option("--title <title>", "what it is about")
        .option("--folder <folder>", "where it goes (default: the root)")
        .option("--agent <agent>", "the agent that answers in it"),
    ),
    'heddle threads start --folder Backend --title "Retry policy"',
  ).action(start);
  const verb = (name: string, description: string) =>
    group.command(name).description(description).argument("<id>", "the thread's id");
  workspaceOptions(
    verb("rename", "change the title of a thread").argument("<title>", "its new title"),
  ).action(rename);
  workspaceOptions(verb("pin", "keep a thread on top")).action((id, options) => pin(id, true, options));
  workspaceOptions(verb("unpin", "no longer keep a thread on top")).action((id, options) =>
    pin(id, false, options),
  );
  workspaceOptions(
    verb("move", "move a thread to a folder").argument("<folder>", "path or id; / is the root"),
  ).action(move);
  workspaceOptions(verb("delete", "remove a thread from every list; for 30 days it can come back")).action(
    remove,
  );
  workspaceOptions(verb("undelete", "bring a deleted thread back to where it was")).action(undelete);
}

interface ListOptions extends Options {
  readonly query?: string;
  readonly agent?: string;
  readonly folder?: string;
  readonly limit: number;
}

async function list(options: ListOptions): Promise<void> {
  const { data, more, folders } = await withSession(options, async (session) => {
    const workspace_id = (await session.workspace()).id;
    const readFolders = async () =>
      new Folders((await session.call("thread/tree", { workspace_id })).folders);
    const given = options.folder === undefined ? undefined : await readFolders();
    const folder = given && { id: given.find(options.folder ?? "/")?.id };
    const page = await readThreads(session, { ...options, workspace_id, in: folder });
    // The tree is large: it is read only when the names of folders are needed.
    const named = !options.json && page.data.some(({ folder_id }) => folder_id !== undefined);
    return { ...page, folders: given ?? (named ? await readFolders() : new Folders([])) };
  });
  if (options.json) return printJson({ data, more });
  if (data.length === 0)
    return print(paint.dim("No threads found. Make one: heddle threads start --title TITLE"));
  const rows = data.map(({ id, title, agent_id, updated_at, folder_id, pinned_at }) => [
    paint.dim(id),
    formatTime(updated_at),
    agent_id,
    formatFolderPath(folders.pathOf(folder_id)),
    pinned_at === undefined ? title : `${title}  ${paint.magenta("pinned")}`,
  ]);
  printTable(["ID", "UPDATED", "AGENT", "FOLDER", "TITLE"], rows);
  if (more) note(paintErr.dim(`There are more: --limit ${options.limit * 10}`));
}

interface ListFilter extends ListOptions {
  readonly workspace_id: string;
  /** The folder they must stand in, if any; without an id the root. */
  readonly in: { readonly id: string | undefined } | undefined;
}

async function readThreads(
  { call }: Session,
  filter: ListFilter,
): Promise<{ data: Thread[]; more: boolean }> {
  const { workspace_id, query, agent, limit } = filter;
  // The wire can't ask for the root alone, so its threads are picked out here.
  const atRoot = filter.in !== undefined && filter.in.id === undefined;
  const data: Thread[] = [];
  let cursor: string | undefined;
  do {
    const page = await call("thread/list", {
      workspace_id,
      limit: atRoot ? PAGE : Math.min(PAGE, limit - data.length),
      ...(query !== undefined && { query }),
      ...(agent !== undefined && { agent_id: agent }),
      ...(filter.in?.id !== undefined && { folder_id: filter.in.id }),
      ...(cursor !== undefined && { cursor }),
    });
    data.push(...(atRoot ? page.data.filter(({ folder_id }) => folder_id === undefined) : page.data));
    cursor = page.next_cursor;
  } while (cursor !== undefined && data.length < limit);
  return { data: data.slice(0, limit), more: cursor !== undefined || data.length > limit };
}

/** A thread is named by its id alone; `--workspace` is needed only where two workspaces have one of that id. */
async function ofThread(session: Session, thread_id: string) {
  const workspace = await session.namedWorkspace();
  return { thread_id, ...(workspace && { workspace_id: workspace.id }) };
}

async function folderPath({ call }: Session, { workspace_id, folder_id }: Thread): Promise<string> {
  if (folder_id === undefined) return "/";
  const { folders } = await call("thread/tree", { workspace_id });
  return formatFolderPath(new Folders(folders).pathOf(folder_id));
}

async function show(id: string, options: Options): Promise<void> {
  const { thread, workspace, path } = await withSession(options, async (session) => {
    const { thread } = await session.call("thread/get", await ofThread(session, id));
    if (options.json) return { thread };
    const { workspace } = await session.call("workspace/get", { workspace_id: thread.workspace_id });
    return { thread, workspace, path: await folderPath(session, thread) };
  });
  if (options.json) return printJson({ thread });
  const rows: [string, string | undefined][] = [
    ["id", thread.id],
    ["workspace", `${workspace?.name}  ${paint.dim(thread.workspace_id)}`],
    ["folder", path],
    ["agent", thread.agent_id],
    ["status", thread.status],
    ["messages", String(thread.message_count)],
    ["pinned", thread.pinned_at === undefined ? undefined : formatTime(thread.pinned_at)],
    ["created", formatTime(thread.created_at)],
    ["updated", formatTime(thread.updated_at)],
  ];
  print(paint.bold(thread.title));
  for (const [name, value] of rows) if (value !== undefined) print(`${paint.dim(name.padEnd(9))}  ${value}`);
}

interface StartOptions extends Options {
  readonly title?: string;
  readonly folder?: string;
  readonly agent?: string;
}

async function start(options: StartOptions): Promise<void> {
  const { title, folder, agent } = options;
  const result = await withSession(options, async ({ workspace, call }) => {
    const workspace_id = (await workspace()).id;
    const found =
      folder === undefined
        ? undefined
        : new Folders((await call("thread/tree", { workspace_id })).folders).find(folder);
    return call("thread/start", {
      workspace_id,
      ...(title !== undefined && { title }),
      ...(agent !== undefined && { agent_id: agent }),
      ...(found && { folder_id: found.id }),
    });
  });
  tell("Started", result, options);
}

async function rename(id: string, title: string, options: Options): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("thread/update", { ...(await ofThread(session, id)), title }),
  );
  tell("Renamed to", result, options);
}

async function pin(id: string, pinned: boolean, options: Options): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("thread/update", { ...(await ofThread(session, id)), pinned }),
  );
  tell(pinned ? "Pinned" : "Unpinned", result, options);
}

async function move(id: string, folder: string, options: Options): Promise<void> {
  const { result, path } = await withSession(options, async (session) => {
    const named = await ofThread(session, id);
    const { thread } = await session.call("thread/get", named);
    const { workspace_id } = thread;
    const folders = new Folders((await session.call("thread/tree", { workspace_id })).folders);
    const folder_id = folders.find(folder)?.id;
    const result = await session.call("thread/move", {
      thread_id: id,
      workspace_id,
      ...(folder_id !== undefined && { folder_id }),
    });
    return { result, path: formatFolderPath(folders.pathOf(folder_id)) };
  });
  if (options.json) return printJson(result);
  print(`Moved ${paint.bold(result.thread.title)} to ${path}  ${paint.dim(id)}`);
}

async function remove(id: string, options: Options): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("thread/delete", await ofThread(session, id)),
  );
  if (options.json) return printJson(result);
  print(`Deleted ${id}`);
  note(paintErr.dim(`Undo within 30 days: heddle threads undelete ${id}`));
}

async function undelete(id: string, options: Options): Promise<void> {
  const result = await withSession(options, async (session) =>
    session.call("thread/undelete", await ofThread(session, id)),
  );
  tell("Brought back", result, options);
}

function tell(what: string, result: { thread: Thread }, { json }: Options): void {
  if (json) printJson(result);
  else print(`${what} ${paint.bold(result.thread.title)}  ${paint.dim(result.thread.id)}`);
}
