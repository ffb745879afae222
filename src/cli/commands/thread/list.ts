import type { Thread } from "../../../protocol/index.js";
import { Folders, formatFolderPath } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { formatTime, note, paint, paintErr, print, printJson, printTable, visible } from "../../output.js";
import { type Session, withSession } from "../../session.js";

interface ListOptions extends WorkspaceOptions {
  readonly query?: string;
  readonly agent?: string;
  readonly folder?: string;
  readonly limit: number;
}

const PAGE = 500;

export async function list(options: ListOptions): Promise<void> {
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
    visible(agent_id),
    formatFolderPath(folders.pathOf(folder_id)),
    pinned_at === undefined ? visible(title) : `${visible(title)}  ${paint.magenta("pinned")}`,
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
