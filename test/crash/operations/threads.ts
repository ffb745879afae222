import { type Acting, attempt } from "../act.js";
import { mayBeCancelled } from "../ledger.js";
import { oneOf, word } from "./choose.js";

const MOST_THREADS = 9;

export async function startThread(acting: Acting): Promise<boolean> {
  const living = acting.known.threads.filter(({ deleted }) => !deleted);
  return living.length < MOST_THREADS && makeThread(acting, {});
}

export async function startInWorktree(acting: Acting): Promise<boolean> {
  if (acting.known.threads.some(({ inWorktree }) => inWorktree)) return false;
  return makeThread(acting, { use_worktree: true });
}

interface Wanted {
  readonly agent?: string;
  readonly desk?: boolean;
  readonly use_worktree?: boolean;
}

export async function makeThread(
  acting: Acting,
  { agent = "doer", desk = false, use_worktree = false }: Wanted,
): Promise<boolean> {
  const { workspace_id, known } = acting;
  const title = `Thread ${word(acting)}`;
  const folder_id = known.chance.pick([undefined, ...known.folders.map(({ id }) => id)]);
  const keep = (id: string) => {
    const fresh = { title, folder: folder_id, pinned: false, deleted: false, log: [] };
    known.threads.push({ id, agent, desk, inWorktree: use_worktree, ...fresh });
  };
  const params = { workspace_id, folder_id, title, agent_id: agent, use_worktree };
  await attempt(acting, "thread/start", params, {
    known: ({ thread }) => keep(thread.id),
    doubt({ threads }) {
      for (const [id, thread] of threads) if (thread.title === title) keep(id);
    },
  });
  return true;
}

export async function removeWorktree(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, ({ inWorktree }) => inWorktree);
  if (!thread) return false;
  const { workspace_id } = acting;
  mayBeCancelled(thread);
  await attempt(
    acting,
    "thread/worktree/remove",
    { workspace_id, thread_id: thread.id, force: true },
    {
      known: () => {
        thread.inWorktree = false;
      },
      doubt({ threads }) {
        thread.inWorktree = threads.get(thread.id)?.worktree !== undefined;
      },
      may: /^(thread|worktree|run)\./,
    },
  );
  return true;
}

export async function changeThread(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, () => true);
  if (!thread) return false;
  const { workspace_id, known } = acting;
  const change = known.chance.yes(0.5) ? { title: `Thread ${word(acting)}` } : { pinned: !thread.pinned };
  await attempt(
    acting,
    "thread/update",
    { workspace_id, thread_id: thread.id, ...change },
    {
      known: () => void Object.assign(thread, change),
      doubt({ threads }) {
        const found = threads.get(thread.id);
        const has = { title: found?.title, pinned: found?.pinned_at !== undefined };
        if (Object.entries(change).every(([key, value]) => has[key as keyof typeof has] === value))
          Object.assign(thread, change);
      },
    },
  );
  return true;
}

export async function moveThread(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, () => true);
  if (!thread) return false;
  const { workspace_id, known } = acting;
  const folder_id = known.chance.pick([undefined, ...known.folders.map(({ id }) => id)]);
  await attempt(
    acting,
    "thread/move",
    { workspace_id, thread_id: thread.id, folder_id },
    {
      known: () => {
        thread.folder = folder_id;
      },
      doubt({ threads }) {
        if (threads.get(thread.id)?.folder_id === folder_id) thread.folder = folder_id;
      },
    },
  );
  return true;
}

export async function deleteThread(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, ({ desk, log }) => !desk && log.length > 0);
  if (!thread) return false;
  mayBeCancelled(thread);
  const { workspace_id } = acting;
  await attempt(
    acting,
    "thread/delete",
    { workspace_id, thread_id: thread.id },
    {
      known: () => {
        thread.deleted = true;
      },
      doubt({ threads }) {
        thread.deleted = !threads.has(thread.id);
      },
    },
  );
  return true;
}

export async function undeleteThread(acting: Acting): Promise<boolean> {
  const thread = acting.known.chance.pick(acting.known.threads.filter(({ deleted }) => deleted));
  if (!thread) return false;
  const { workspace_id } = acting;
  const back = (folder: string | undefined, worktree: unknown) => {
    thread.deleted = false;
    thread.folder = folder;
    thread.inWorktree = worktree !== undefined;
  };
  await attempt(
    acting,
    "thread/undelete",
    { workspace_id, thread_id: thread.id },
    {
      known: ({ thread: found }) => back(found.folder_id, found.worktree),
      doubt({ threads }) {
        const found = threads.get(thread.id);
        if (found) back(found.folder_id, found.worktree);
      },
    },
  );
  return true;
}

export async function clearThread(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, ({ desk, log }) => !desk && log.length > 0);
  if (!thread) return false;
  mayBeCancelled(thread);
  const { workspace_id } = acting;
  await attempt(
    acting,
    "thread/clear",
    { workspace_id, thread_id: thread.id },
    {
      known: () => {
        thread.log = [];
      },
      async doubt(state) {
        const texts = await state.texts(thread.id);
        if (!thread.log.some(({ text }) => texts.includes(text))) thread.log = [];
      },
      may: /^thread\.busy$/,
    },
  );
  return true;
}
