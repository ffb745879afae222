import type { Generated } from "kysely";

/** The tables, one interface each. Times are unix seconds; `attributes`, `config`, `setup` and `params` hold JSON text. */

export interface WorkspaceRow {
  id: string;
  name: string;
  root_path: string | null;
  /** 1 for the one workspace a fresh data directory starts with. */
  home: number;
  /** The last notification's number. Raised in the same transaction as the change it tells of. */
  seq: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface FolderRow {
  id: string;
  workspace_id: string;
  parent_folder_id: string | null;
  name: string;
  rank: number;
  created_at: number;
  updated_at: number;
}

export interface ThreadRow {
  id: string;
  workspace_id: string;
  title: string;
  /** The title folded for case-insensitive search, the same on both stores. */
  title_search: string;
  agent_id: string;
  status: string;
  pinned_at: number | null;
  last_snippet: string | null;
  message_count: number;
  worktree_path: string | null;
  worktree_branch: string | null;
  parent_thread_id: string | null;
  attributes: string | null;
  config: string | null;
  /** Where its files are, when not in the workspace's own directory. */
  file_root: string | null;
  /** The names of its folders as its file has them, as JSON text. */
  file_folder: string | null;
  /** Why nothing may be written to its files. */
  read_only: string | null;
  /** When we last changed our own values in its file: an older time there was written over ours. */
  own_stamp: string | null;
  /** Tells whether `thread.json` has changed since it was read. */
  envelope_stamp: string | null;
  /** Tells whether the log has changed since it was read, with how much of it was and how that ended. */
  log_stamp: string | null;
  log_size: number | null;
  log_tail: string | null;
  /** How far into the log the words of its messages are indexed. */
  words_to: number | null;
  /** Which list of what its agent was told is the present one, and from where on it is still sent. */
  history_epoch: number | null;
  history_from: number | null;
  /** How far into the log that list goes; null: the log is another now, and so is the list to be. */
  history_to: number | null;
  /** The state of its set-up, as JSON text. */
  setup: string | null;
  /** Tools that its agent may call without asking, as JSON text. Never in its files: those may come from anyone. */
  granted_tools: string | null;
  /** The session of its agent's program that can be gone on with, as JSON text. */
  program_session: string | null;
  /** What an agent elsewhere answers with. */
  callback_secret: string | null;
  /** 1 when somebody named it: its title no longer follows its first message. */
  named: number | null;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
}

export interface PlacementRow {
  workspace_id: string;
  thread_id: string;
  folder_id: string | null;
  rank: number;
}

export interface AgentsDocRow {
  id: string;
  workspace_id: string;
  /** Null for the root. Not a foreign key: an archived document outlives its folder. */
  folder_id: string | null;
  status: "draft" | "active" | "archived";
  title: string;
  content: string;
  content_sha256: string;
  char_count: number;
  version: number;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
  created_by: string | null;
  updated_by: string | null;
}

export interface AgentsDocRevisionRow {
  doc_id: string;
  version: number;
  content: string;
  content_sha256: string;
  char_count: number;
  reason: "autosave" | "manual" | "archive" | "restore";
  saved_at: number;
  saved_by: string | null;
}

export interface NotificationRow {
  workspace_id: string;
  seq: number;
  method: string;
  params: string;
  created_at: number;
}

/** Content of a repository's file that its user trusts; any other content of the same kind is not trusted. */
export interface TrustRow {
  workspace_id: string;
  kind: string;
  content_sha256: string;
  trusted_at: number;
}

/** Where a message stands. Its words are kept beside it for the search, its text only in the thread's log. */
interface MessageRow {
  id: Generated<number>;
  workspace_id: string;
  thread_id: string;
  message_id: string;
  line_offset: number;
  at: number;
  role: string;
}

/** Bytes by their hash. */
export interface BlobRow {
  id: Generated<number>;
  /** Lowercase hex. */
  hash: string;
  size: number;
  content: Uint8Array;
  /** When it was last put, give or take an hour. */
  put_at: number;
}

/** A thread's journal refers to the blob; what is in its history is not listed again. */
interface BlobUseRow {
  workspace_id: string;
  thread_id: string;
  blob_id: number;
}

/** One event of a journal: a thread's, or with an empty `thread_id` the workspace's own. `body` is what is hashed. */
export interface JournalEventRow {
  workspace_id: string;
  thread_id: string;
  seq: number;
  body: string;
  hash: string;
}

/** What a journal says of a run, for lists. `error`, `usage`, `origin`, `approvals`, `decisions` and `steering` hold JSON text. */
export interface RunRow {
  id: string;
  workspace_id: string;
  thread_id: string;
  number: number;
  status: string;
  steps: number;
  agent_id: string;
  model: string | null;
  parent_run_id: string | null;
  /** Where it comes from, when no person asked for it. */
  origin: string | null;
  /** Its calls that wait until somebody allows them. */
  approvals: string | null;
  /** What somebody said to calls that waited. */
  decisions: string | null;
  /** What people said to it that its next step will tell. */
  steering: string | null;
  error: string | null;
  usage: string | null;
  /** The beginning of what it was asked. */
  content: string | null;
  user_message_id: string;
  agent_message_id: string;
  idempotency_key: string | null;
  /** Its part of the thread's journal; without a last one it has not ended. */
  first_seq: number;
  last_seq: number | null;
  created_at: number;
  updated_at: number;
  started_at: number | null;
  ended_at: number | null;
}

/** Work that one agent handed to another. */
export interface DelegationRow {
  /** Of the call that asked for it. */
  id: string;
  workspace_id: string;
  caller_thread_id: string;
  caller_run_id: string | null;
  thread_id: string;
  run_id: string;
  /** `sync`: the call waits for it. `async`: its result comes back by itself. */
  mode: string;
  /** 1 when the thread was made for it. */
  thread_created: number;
  /** The beginning of what was asked. */
  asked: string;
  created_at: number;
  /** When its result came back to the thread that asked; null as long as it has not. */
  returned_at: number | null;
}

/** A message as a thread's agent was told it, in order. */
export interface HistoryRow {
  workspace_id: string;
  thread_id: string;
  /** A log that was cleared or replaced begins a new one. */
  epoch: number;
  /** From 0. */
  pos: number;
  blob_id: number;
  /** Over this message and all before it. */
  list_hash: string;
  role: string;
  /** Up to and with this one. */
  chars: number;
  tokens: number;
  /** The message of the log it comes from. */
  message_id: string;
}

/** `state` holds JSON text. */
export interface PromptPackRow {
  workspace_id: string;
  pack: string;
  state: string;
  updated_at: number;
}

export interface ToolSyncRow {
  workspace_id: string;
  ref: string;
  tools: number;
  synced_at: number;
}

/** A list, a note or a view. `tags` holds JSON text. */
export interface ArtifactRow {
  id: string;
  workspace_id: string;
  kind: "list" | "note" | "view";
  name: string;
  tags: string;
  /** Raised by every change of its own fields; items of a list have none. */
  version: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** What a list is for, the text of a note, the query of a view. */
  body: string;
  /** Name, tags and body folded for case-insensitive search, the same on both stores. */
  search: string;
}

/** An item of a list. `tags` holds JSON text. */
export interface ArtifactItemRow {
  id: string;
  workspace_id: string;
  list_id: string;
  /** Orders the items of a list, with the id where two are equal. */
  position: number;
  title: string;
  notes: string | null;
  url: string | null;
  tags: string;
  done: number;
  created_at: number;
  updated_at: number;
  deleted_at: number | null;
  /** Its tags, folded, each between line ends. */
  tag_search: string;
  /** Everything it says, folded. */
  search: string;
}

/** A call that changed artifacts, and what was answered: made again, it changes nothing. */
export interface ArtifactCallRow {
  workspace_id: string;
  call_key: string;
  answer: string;
  made_at: number;
}

interface SchemaVersionRow {
  version: number;
  applied_at: number;
}

export interface Tables {
  schema_version: SchemaVersionRow;
  workspace: WorkspaceRow;
  thread_folder: FolderRow;
  thread: ThreadRow;
  thread_placement: PlacementRow;
  thread_agents_doc: AgentsDocRow;
  thread_agents_doc_revision: AgentsDocRevisionRow;
  notification: NotificationRow;
  trust: TrustRow;
  message: MessageRow;
  blob: BlobRow;
  blob_use: BlobUseRow;
  journal_event: JournalEventRow;
  run: RunRow;
  delegation: DelegationRow;
  history: HistoryRow;
  prompt_pack: PromptPackRow;
  tool_sync: ToolSyncRow;
  artifact: ArtifactRow;
  artifact_item: ArtifactItemRow;
  artifact_call: ArtifactCallRow;
}
