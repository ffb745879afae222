import type { Ledger } from "./ledger.js";
import type { State } from "./state.js";

/** Folders and threads stand where they were last put, under the name they were last given. */
export function checkTree(ledger: Ledger, { threads, folders, tree }: State): string[] {
  const problems: string[] = [];
  const compare = (what: string, known: object, found: object | undefined) => {
    const [right, seen] = [JSON.stringify(known), found && JSON.stringify(found)];
    if (seen === undefined) problems.push(`lost: ${what} ${right} was acknowledged and is not in the tree`);
    else if (seen !== right) problems.push(`lost: ${what} was acknowledged as ${right} and is ${seen}`);
  };
  for (const { id, name, parent } of ledger.clients.flatMap((client) => client.folders)) {
    const found = folders.get(id);
    compare(`folder ${id}`, { name, parent }, found && { name: found.name, parent: found.parent_folder_id });
  }
  for (const { id, title, folder, pinned, deleted, inWorktree } of ledger.threads()) {
    const found = threads.get(id);
    if (deleted) {
      if (found) problems.push(`lost: that thread ${id} was deleted was acknowledged, and it is in the tree`);
      continue;
    }
    compare(
      `thread ${id}`,
      { title, folder, pinned, inWorktree },
      found && {
        title: found.title,
        folder: found.folder_id,
        pinned: found.pinned_at !== undefined,
        inWorktree: found.worktree !== undefined,
      },
    );
  }
  return [
    ...problems,
    ...doubles("thread", tree.threads),
    ...doubles("folder", tree.folders),
    ...strays(ledger, tree),
  ];
}

function doubles(what: string, all: readonly { readonly id: string }[]): string[] {
  const ids = all.map(({ id }) => id);
  return ids
    .filter((id, at) => ids.indexOf(id) !== at)
    .map((id) => `doubled: ${what} ${id} is twice in the tree`);
}

/** Everything that clients make has a name of its own, so what is made twice shows. Agents make threads that have a parent. */
function strays(ledger: Ledger, { threads, folders }: State["tree"]): string[] {
  const known = new Set([
    ...ledger.threads().map(({ id }) => id),
    ...ledger.clients.flatMap((client) => client.folders.map(({ id }) => id)),
  ]);
  const made = threads.filter(({ parent_thread_id }) => parent_thread_id === undefined);
  return [
    ...made
      .filter(({ id }) => !known.has(id))
      .map(({ id, title }) => `doubled: nobody made thread ${id} "${title}"`),
    ...folders
      .filter(({ id }) => !known.has(id))
      .map(({ id, name }) => `doubled: nobody made folder ${id} "${name}"`),
  ];
}
