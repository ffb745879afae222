import { isDeepStrictEqual } from "node:util";
import type { JsonChange, Message, ThreadEnvelope, Thread as ThreadFile } from "../../atsf/index.js";
import { unixSeconds } from "../../base/index.js";
import type { Thread } from "../../protocol/index.js";
import {
  folders,
  messages,
  notifications,
  type ThreadRow,
  threadFiles,
  threads,
  type Unit,
  type WorkspaceRow,
  workspaces,
} from "../../store/index.js";
import {
  type Call,
  findRank,
  placementOf,
  requireFolder,
  type TreeChanges,
  threadToWire,
  treeChanged,
  workspaceNotFound,
} from "../../tree/index.js";
import type { ThreadsDeps } from "../deps.js";
import { type Own, ownChanges, ownOf, stampAfter } from "../metadata.js";
import { DEFAULT_TITLE } from "../text.js";
import { messageToWire } from "../wire.js";
import { fieldsOf, logFieldsOf, secondsOf } from "./fields.js";
import { folderByNames } from "./folder-names.js";
import { envelopeStamp, type LogLook, lookAnew, lookAtLog } from "./look.js";

/** A thread's files: whose they are and where. */
export interface FilesOf {
  readonly workspace: Pick<WorkspaceRow, "id" | "root_path">;
  readonly thread_id: string;
  /** The directory that holds `.agent`. */
  readonly root: string;
  /** Where a thread that is being made goes; otherwise its file says where it was. */
  readonly folder_id?: string | null | undefined;
  /** What the index knows of it, when it was read within this turn. */
  readonly row?: threadFiles.IndexedThreadRow | undefined;
}

/** What was read of a thread's files, ready to be written to the index. */
export interface Reading {
  readonly files: FilesOf;
  readonly changes: Partial<ThreadRow>;
  readonly log: LogLook | undefined;
  /** Where its file says that it was. */
  readonly own: Pick<Own, "folder" | "folderId"> | undefined;
}

/** What else changes with a thread's files, in the same commit: columns of its row, and what clients are told after it. */
export interface WithIt {
  readonly changes: Partial<ThreadRow>;
  readonly told: readonly notifications.Announcement[];
}

/** A commit that holds more than what the files say. */
export interface Committing {
  readonly unit?: () => Unit<WithIt>;
  /** Nothing is committed before this has resolved: what was read may not be on disk yet. */
  readonly after?: Promise<unknown> | undefined;
  /** As `WriteOptions.written`. */
  readonly written?: (() => void) | undefined;
}

/**
 * Brings the index in line with a thread's files and tells clients what changed, whoever changed it. Every verb changes
 * the files and then comes here; so does what other programs do. The caller has the thread's turn.
 */
export async function reflect(
  deps: ThreadsDeps,
  files: FilesOf,
  call: Call = {},
  { unit: withIt, after, written: committed }: Committing = {},
): Promise<Thread | undefined> {
  const reading =
    (await readFiles(deps, files)) ?? (withIt && { files, changes: {}, log: undefined, own: undefined });
  if (!reading) return undefined;
  const unit = function* (): Unit<Thread | undefined> {
    if (!(yield* workspaces.lockWorkspace(files.workspace.id))) {
      // Whoever commits something with it must know that it was not.
      if (withIt) throw workspaceNotFound(files.workspace.id);
      return undefined;
    }
    const more = withIt ? yield* withIt() : { changes: {}, told: [] };
    const whole = { ...reading, changes: { ...reading.changes, ...more.changes } };
    const written = yield* writeReading(deps, whole);
    const told = [...announcements(whole, written), ...more.told];
    yield* notifications.announce(files.workspace.id, unixSeconds(deps.clock), told);
    return written.thread;
  };
  const options = {
    key: files.workspace.id,
    origin: call.origin,
    ...(committed && { written: committed }),
  };
  const writing = Promise.resolve(after).then(() => deps.store.write(options, unit));
  const lacking = reading.log?.log_size ? [files.thread_id] : [];
  return deps.words.missingAfter(files.workspace.id, lacking, writing).catch((error) => {
    // Read, but not known: whoever looks next reads it again.
    deps.files.remember(files.workspace.id, files.thread_id, "");
    throw error;
  });
}

/** Reads what changed in a thread's files. Undefined: nothing did. */
export async function readFiles(
  deps: ThreadsDeps,
  files: FilesOf,
  { force = false, stamps = false } = {},
): Promise<Reading | undefined> {
  const { workspace, thread_id, root } = files;
  const row = await rowOf(deps, files);
  const thread = await deps.files.thread(root, thread_id);
  const stamp = envelopeStamp(thread.dir) ?? "none";
  const file_root = root === deps.files.directoryOf(workspace) ? null : root;
  const sameFile = !force && row !== undefined && isSameFile(deps, row, stamp, file_root);
  const found = sameFile ? undefined : await readEnvelope(deps, thread, row);
  const known = row?.envelope_stamp === null ? undefined : row;
  const envelopeOf = async () => found ?? thread.envelope();
  const log = await (force ? lookAnew : lookAtLog)(thread, known, envelopeOf);
  const envelope = (await nameAfterFirst(deps, thread, row, log)) ?? found;
  if (!envelope && !log) return undefined;
  // The stamp is from before the file was read: what is written meanwhile is read next time.
  const place = { envelope_stamp: stamp, file_root, ...living(row) };
  const changes = {
    ...columnsOf(thread_id, file_root, envelope, log),
    ...place,
    updated_at: latest(row, envelope, log),
  };
  const logged = log ? log.log_stamp : row?.log_stamp;
  deps.files.remember(workspace.id, thread_id, `${stamp} ${logged}`);
  if (row && sameBut(row, changes, stamps ? undefined : "envelope_stamp")) return undefined;
  return { files, changes, log, own: envelope && ownOf(envelope) };
}

/** An index is not touched by a column that is not named. */
function living(row: ThreadRow | undefined): Partial<ThreadRow> {
  return row?.deleted_at === null ? {} : { deleted_at: null };
}

function columnsOf(
  thread_id: string,
  file_root: string | null,
  envelope: ThreadEnvelope | undefined,
  log: LogLook | undefined,
): Partial<ThreadRow> {
  return { ...(envelope && fieldsOf(thread_id, envelope, file_root)), ...(log && logFieldsOf(log)) };
}

/** Until someone names a thread, it is called after its first user message, whoever wrote it. */
async function nameAfterFirst(
  deps: ThreadsDeps,
  thread: ThreadFile,
  row: ThreadRow | undefined,
  log: LogLook | undefined,
): Promise<ThreadEnvelope | undefined> {
  const title = log?.firstTitle;
  if (title === undefined || row?.named !== 0 || row.title !== DEFAULT_TITLE || row.read_only !== null)
    return undefined;
  const naming = thread.change((envelope) => {
    if (envelope.title !== DEFAULT_TITLE) return [];
    const updatedAt = stampAfter(deps.clock.now(), row.own_stamp, ownOf(envelope)?.updatedAt);
    return [{ path: ["title"], value: title }, ...ownChanges({ updatedAt })];
  });
  return naming.catch((error) => {
    deps.report(error, "a thread could not be named after its first message");
    return undefined;
  });
}

async function rowOf(deps: ThreadsDeps, { row, workspace, thread_id }: FilesOf): Promise<FilesOf["row"]> {
  return row ?? deps.store.read(() => threadFiles.findIndexed(workspace.id, thread_id));
}

/**
 * A directory that was moved keeps its stamps: where it stands now is a change all the same. Counts that follow a message
 * change the file and nothing that the index knows: it is not read again for those.
 */
function isSameFile(deps: ThreadsDeps, row: ThreadRow, stamp: string, file_root: string | null): boolean {
  const usable = row.deleted_at === null && row.read_only === null;
  if (!usable || row.file_root !== file_root) return false;
  return row.envelope_stamp === stamp || deps.files.envelopeWasRead(row.workspace_id, row.id, stamp);
}

/** What `thread.json` says, with our own values put back where another program lost them. */
async function readEnvelope(
  deps: ThreadsDeps,
  thread: ThreadFile,
  row: FilesOf["row"],
): Promise<ThreadEnvelope> {
  const envelope = await thread.envelope();
  return row && lostOurs(row, envelope) ? restoreOurs(deps, thread, row, envelope) : envelope;
}

/** The stamp alone is no reason for a commit of its own: it is kept with the next change, or by the next sweep. */
function sameBut(row: ThreadRow, changes: Partial<ThreadRow>, ignored: keyof ThreadRow | undefined): boolean {
  const keys = Object.keys(changes) as (keyof ThreadRow)[];
  return keys.every((key) => key === ignored || row[key] === changes[key]);
}

export interface Written {
  readonly thread: Thread;
  readonly made: boolean;
  /** Something a client can see is another than before. */
  readonly visible: boolean;
  readonly tree: TreeChanges;
}

export function* writeReading(deps: ThreadsDeps, reading: Reading): Unit<Written> {
  const { workspace, thread_id } = reading.files;
  const before = yield* threads.findPlacedThread(workspace.id, thread_id);
  if (!before) return yield* insert(deps, reading);
  yield* threads.updateThread(workspace.id, thread_id, withoutSameTitle(reading.changes, before));
  if (reading.log?.replaced) yield* messages.removeMessages(workspace.id, thread_id);
  const thread = threadToWire({ ...before, ...reading.changes });
  const back = before.deleted_at !== null;
  const visible = back || !isDeepStrictEqual(thread, threadToWire(before));
  const tree = { threads: [thread], ...(back && { placements: [placementOf(before)] }) };
  return { thread, made: false, visible, tree };
}

/** What it is found by is made anew only when it is called something else. */
function withoutSameTitle(
  changes: Partial<ThreadRow>,
  { title }: Pick<ThreadRow, "title">,
): Partial<ThreadRow> {
  const { title_search: _, ...others } = changes;
  return changes.title === title ? others : changes;
}

function* insert(deps: ThreadsDeps, { files, changes, own }: Reading): Unit<Written> {
  const workspace_id = files.workspace.id;
  const placed = yield* placeOf(deps, files, own);
  const row: ThreadRow = { ...EMPTY, ...changes, id: files.thread_id, workspace_id } as ThreadRow;
  const siblings = { table: "thread_placement", workspace_id, parent_id: placed.folder_id } as const;
  const { rank } = yield* findRank({ siblings, after_id: undefined, otherwise: "first", id: row.id });
  const place = { folder_id: placed.folder_id, rank };
  yield* threads.insertThread(row, { workspace_id, thread_id: row.id, ...place });
  const thread = threadToWire({ ...row, ...place });
  const tree = {
    ...(placed.made.length > 0 && { folders: placed.made }),
    threads: [thread],
    placements: [placementOf({ ...row, ...place })],
  };
  return { thread, made: true, visible: true, tree };
}

function* placeOf(
  deps: ThreadsDeps,
  { workspace, folder_id }: FilesOf,
  { folder = [], folderId }: NonNullable<Reading["own"]> = {},
): ReturnType<typeof folderByNames> {
  if (folder_id === undefined) {
    const known = folderId === undefined ? undefined : yield* folders.findFolder(workspace.id, folderId);
    return known ? { folder_id: known.id, made: [] } : yield* folderByNames(deps, workspace.id, folder);
  }
  if (folder_id !== null) yield* requireFolder(workspace.id, folder_id);
  return { folder_id, made: [] };
}

/** What clients are told: each new message, then the thread, first to those who show it. */
export function announcements({ files, log }: Reading, written: Written): notifications.Announcement[] {
  const workspace_id = files.workspace.id;
  const fresh: readonly Message[] = written.made ? [] : (log?.fresh ?? []);
  return [
    ...fresh.map((message) => ({
      method: "message/appended",
      params: { workspace_id, thread_id: files.thread_id, message: messageToWire(message) },
    })),
    ...(written.visible
      ? [
          { method: "thread/changed", params: { thread: written.thread } },
          treeChanged(workspace_id, written.tree),
        ]
      : []),
  ];
}

/** Another program wrote `thread.json` from a state before our last change, or without what is ours. */
function lostOurs(row: ThreadRow, envelope: ThreadEnvelope): boolean {
  if (row.own_stamp === null || row.deleted_at !== null) return false;
  const found = ownOf(envelope)?.updatedAt;
  return found === undefined || Date.parse(found) < Date.parse(row.own_stamp);
}

/** A file that can't be written keeps what the other program left: the next reading tries again. */
async function restoreOurs(
  deps: ThreadsDeps,
  thread: ThreadFile,
  row: NonNullable<FilesOf["row"]>,
  found: ThreadEnvelope,
): Promise<ThreadEnvelope> {
  if (found.threadId !== row.id) return found;
  return thread.change(oursOf(row, found)).catch((error) => {
    deps.report(error, "our values could not be put back into a thread's file");
    return found;
  });
}

/** Its title is ours only in an older copy: a program that drops what it does not know may still have renamed it. */
function oursOf(row: NonNullable<FilesOf["row"]>, found: ThreadEnvelope): JsonChange[] {
  const older = ownOf(found) !== undefined;
  const isoOf = (seconds: number | null) =>
    seconds === null ? undefined : new Date(seconds * 1000).toISOString();
  const parsed = (text: string | null) => (text === null ? undefined : JSON.parse(text));
  return [
    ...(older && row.named === 1 ? [{ path: ["title"], value: row.title }] : []),
    ...ownChanges({
      updatedAt: row.own_stamp,
      pinnedAt: isoOf(row.pinned_at),
      attributes: parsed(row.attributes),
      config: parsed(row.config),
      folder: parsed(row.file_folder),
      folderId: (row.file_folder && row.folder_id) ?? undefined,
      named: row.named === 1 ? true : undefined,
      parentThreadId: row.parent_thread_id ?? undefined,
    }),
  ];
}

/** The wire's time of change only ever advances, except when the log it came from was replaced. */
function latest(
  row: ThreadRow | undefined,
  envelope: ThreadEnvelope | undefined,
  log: LogLook | undefined,
): number {
  const own = envelope && ownOf(envelope)?.updatedAt;
  const times = [envelope?.createdAt, envelope?.updatedAt, own, log?.lastAt].filter(
    (time) => time !== undefined,
  );
  const known =
    row && row.envelope_stamp !== null && !log?.replaced ? row.updated_at : (row?.created_at ?? 0);
  return Math.max(known, ...times.map(secondsOf).filter(Number.isFinite));
}

const EMPTY = {
  title: "",
  title_search: "",
  agent_id: "",
  status: "idle",
  pinned_at: null,
  last_snippet: null,
  message_count: 0,
  worktree_path: null,
  worktree_branch: null,
  parent_thread_id: null,
  attributes: null,
  config: null,
  file_root: null,
  file_folder: null,
  read_only: null,
  own_stamp: null,
  envelope_stamp: null,
  log_stamp: null,
  log_size: 0,
  log_tail: null,
  words_to: 0,
  history_epoch: null,
  history_from: null,
  history_to: null,
  setup: null,
  granted_tools: null,
  program_session: null,
  callback_secret: null,
  named: null,
  deleted_at: null,
};
