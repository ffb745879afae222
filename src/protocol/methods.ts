import { z } from "zod";
import * as doc from "./agents-doc.js";
import { page, pageParams, seq } from "./common.js";
import { agentId, folderId, threadId, workspaceId } from "./ids.js";
import * as imports from "./imports.js";
import { inWorkspace, method, ofThread } from "./method.js";
import { runMethods } from "./run-methods.js";
import { nameText, optionalParam, plainText } from "./text.js";
import * as file from "./threads.js";
import { folder, placement, thread, threadConfigPatch, workspace } from "./tree.js";

const afterId = plainText
  .max(128)
  .nullable()
  .optional()
  .describe("the sibling it comes after; `null`: first; absent: last for folders, first for threads");

const namesOne = (params: { workspace_id?: string | undefined; thread_id?: string | undefined }) =>
  params.workspace_id !== undefined || params.thread_id !== undefined;

const clientInfo = z.union([
  nameText,
  z.object({ name: nameText, version: optionalParam(plainText.max(255)) }),
]);
const helloParams = z.object({ client: optionalParam(clientInfo).describe("a name, or `{name, version}`") });
const helloResult = z.object({
  server: z.object({ name: z.string(), version: z.string() }),
  protocol_version: z.string(),
  capabilities: z.record(z.string(), z.unknown()),
});

const rootPath = optionalParam(plainText.min(1).max(4096)).describe(
  "an absolute path of a directory that exists",
);
const workspaceResult = z.object({ workspace });
const folderResult = z.object({ folder });
const threadResult = z.object({ thread });
const deletedResult = z.object({ deleted: z.boolean() });
const threadListOrder = z.enum(["updated", "created"]);

/** Every method of the wire. Dispatch, client types, JSON Schemas and `docs/protocol.md` are derived from this table. */
export const methods = {
  initialize: method(
    "Says who the client is and learns what the gateway offers. Optional.",
    helloParams,
    helloResult,
  ),
  ping: method("Answers at once.", helloParams, helloResult),
  subscribe: method(
    "Notifications of a workspace, from `after_seq` on where it is given; of a thread, its live stream too.",
    z
      .object({
        workspace_id: optionalParam(workspaceId),
        thread_id: optionalParam(threadId),
        after_seq: optionalParam(z.int().min(0)).describe("replays the durable notifications after this one"),
      })
      .refine(namesOne, { error: "needs workspace_id or thread_id" }),
    z.object({ seq, resync: z.boolean().describe("too far back to replay: read the tree again") }),
  ),
  unsubscribe: method(
    "Ends the notifications of a workspace or thread.",
    z
      .object({ workspace_id: optionalParam(workspaceId), thread_id: optionalParam(threadId) })
      .refine(namesOne, {
        error: "needs workspace_id or thread_id",
      }),
    z.object({ seq, resync: z.boolean(), unsubscribed: z.boolean().describe("whether it was followed") }),
  ),

  "workspace/list": method("Every workspace, oldest first.", z.object(pageParams), page(workspace)),
  "workspace/create": method(
    "Makes a workspace; a directory that is already bound answers its workspace.",
    z.object({
      name: optionalParam(nameText).describe("default: the directory's name"),
      root_path: rootPath,
    }),
    workspaceResult.extend({ created: z.boolean() }),
  ),
  "workspace/get": method(
    "One workspace, what its project would have run here, and what is wrong with its files.",
    z.object(inWorkspace),
    workspaceResult.extend({
      trust: z.array(file.trustState).optional(),
      warnings: z.array(z.string()).optional(),
    }),
  ),
  "workspace/update": method(
    "Renames a workspace or binds it to another directory.",
    z.object({ ...inWorkspace, name: optionalParam(nameText), root_path: rootPath }),
    workspaceResult,
  ),
  "workspace/delete": method(
    "Removes a workspace from every list. Files of the project stay; `workspace/undelete` brings it back for 30 days.",
    z.object(inWorkspace),
    deletedResult,
  ),
  "workspace/undelete": method("Brings a deleted workspace back.", z.object(inWorkspace), workspaceResult),
  "workspace/trust": method(
    "Lets what a project's files name run here, as long as it is exactly this content.",
    z
      .object({
        ...inWorkspace,
        kind: file.trustKind,
        content_sha256: optionalParam(file.contentHash).describe(
          "of what the user saw; not needed to revoke",
        ),
        revoke: optionalParam(z.boolean()).describe("takes back all trust of this kind instead"),
        thread_id: optionalParam(threadId).describe(
          "with `worktree_hooks`: sets the worktree of this thread up at once, where they were not run",
        ),
      })
      .refine(({ content_sha256, revoke }) => revoke === true || content_sha256 !== undefined, {
        error: "needs content_sha256, or revoke",
      }),
    z.object({ trusted: z.boolean() }),
  ),
  "workspace/reindex": method(
    "Reads every thread file of a workspace again. Progress comes as `workspace/indexing`.",
    z.object(inWorkspace),
    z.object({
      threads: z.int(),
      added: z.int(),
      changed: z.int(),
      removed: z.int(),
      problems: z.array(file.indexProblem),
    }),
  ),

  "thread/tree": method(
    "The whole tree of a workspace, in display order, documents without content.",
    z.object(inWorkspace),
    z.object({
      ...inWorkspace,
      threads: z.array(thread),
      folders: z.array(folder),
      placements: z.array(placement),
      agents_docs: z.array(doc.agentsDocSummary),
      seq,
      truncated: z
        .literal(true)
        .optional()
        .describe("there are more threads: these are the pinned and the latest updated ones"),
    }),
  ),
  "thread/folder/create": method(
    "Makes a folder.",
    z.object({
      ...inWorkspace,
      name: nameText,
      parent_folder_id: optionalParam(folderId),
      after_id: afterId,
    }),
    folderResult,
  ),
  "thread/folder/rename": method(
    "Renames a folder.",
    z.object({ ...inWorkspace, folder_id: folderId, name: nameText }),
    folderResult,
  ),
  "thread/folder/move": method(
    "Moves a folder with all it holds below another one (absent: to the root).",
    z.object({
      ...inWorkspace,
      folder_id: folderId,
      parent_folder_id: optionalParam(folderId),
      after_id: afterId,
    }),
    folderResult,
  ),
  "thread/folder/delete": method(
    "Deletes a folder: what it holds moves up to its parent, its AGENTS.md is archived.",
    z.object({ ...inWorkspace, folder_id: folderId }),
    deletedResult,
  ),

  "thread/start": method(
    "Makes a thread.",
    z.object({
      ...inWorkspace,
      folder_id: optionalParam(folderId),
      agent_id: optionalParam(agentId),
      title: optionalParam(nameText),
      use_worktree: optionalParam(z.boolean()).describe("default: what the project's config.json says"),
      config: optionalParam(threadConfigPatch),
    }),
    threadResult,
  ),
  "thread/get": method("One thread.", z.object(ofThread), threadResult),
  "thread/list": method(
    "Threads of a workspace, most recently updated (or created) first.",
    z.object({
      ...inWorkspace,
      agent_id: optionalParam(agentId),
      folder_id: optionalParam(folderId).describe("only threads directly in this folder"),
      query: optionalParam(plainText.max(1024)).describe("part of the title, in any case"),
      order: optionalParam(threadListOrder),
      ...pageParams,
    }),
    page(thread),
  ),
  "thread/update": method(
    "Changes title, pin, attributes or settings. In `attributes` and `config` only the given keys change; `null` clears one.",
    z.object({
      ...ofThread,
      title: optionalParam(nameText),
      pinned: optionalParam(z.boolean()),
      attributes: optionalParam(z.record(z.string().max(255), z.unknown())),
      config: optionalParam(threadConfigPatch),
      granted_tools: optionalParam(z.array(plainText.max(128)).max(1_000)).describe(
        "those that keep their grant: the others are taken back, none is added",
      ),
    }),
    threadResult,
  ),
  "thread/move": method(
    "Moves a thread to a folder (absent: to the root) and a position in it.",
    z.object({ ...ofThread, folder_id: optionalParam(folderId), after_id: afterId }),
    threadResult.extend({ placement }),
  ),
  "thread/delete": method(
    "Removes a thread from every list and its files from the project; `thread/undelete` brings both back for 30 days.",
    z.object(ofThread),
    deletedResult,
  ),
  "thread/undelete": method(
    "Brings a deleted thread back to where it was.",
    z.object(ofThread),
    threadResult,
  ),

  "thread/clear": method(
    "Empties a thread's log. The old one stays beside it for 30 days; `thread/unclear` brings it back.",
    z.object(ofThread),
    threadResult,
  ),
  "thread/unclear": method(
    "Brings back what `thread/clear` put aside last, as long as nothing was said in the thread since.",
    z.object(ofThread),
    threadResult,
  ),
  "thread/messages": method(
    "Messages of a thread, newest first unless `order` says otherwise; or those around one of them.",
    z.object({
      ...ofThread,
      order: optionalParam(z.enum(["desc", "asc"])),
      around: optionalParam(plainText.min(1).max(255)).describe(
        "a message's id: half of the page is older than it, the rest begins with it; `cursor` does not count",
      ),
      ...pageParams,
    }),
    page(file.message).extend({
      newer_cursor: z
        .string()
        .optional()
        .describe("with `around`: leads on to newer ones with `order: asc`; `next_cursor` to older ones"),
    }),
  ),
  "message/append": method(
    "Records a message that was made elsewhere. An id that is there already is answered, not written twice.",
    z.object({ ...ofThread, message: file.newMessage }),
    z.object({ message: file.message }),
  ),
  "thread/search": method(
    "Messages in which every word of the query begins a word, newest first.",
    z.object({
      ...inWorkspace,
      query: plainText.min(1).max(1024),
      thread_id: optionalParam(threadId).describe("only in this thread"),
      ...pageParams,
    }),
    page(file.searchHit).extend({
      incomplete: z
        .boolean()
        .optional()
        .describe("messages are still being read for the first time: ask again"),
    }),
  ),
  "thread/export": method(
    "A thread's directory as a tar.gz: in the answer, or in a new file at `path` on the gateway's machine.",
    z.object({ ...ofThread, path: file.filePath.describe("an absolute path where nothing is yet") }),
    z.object({
      archive_base64: z.string().optional(),
      path: z.string().optional(),
      size: z.int().describe("bytes of the archive"),
    }),
  ),
  "thread/import": method(
    "Takes in threads from an archive, from an archive or directory at `path` on the gateway's machine, or sessions of another tool there (`from`). Progress of the latter comes as `import/progress`.",
    z
      .object({
        ...inWorkspace,
        archive_base64: optionalParam(file.archiveText),
        path: file.filePath.describe(
          "a tar.gz, a thread's directory, or a project (also what stands in its git worktrees); with `from`, what that tool wrote",
        ),
        ...imports.sessionParams,
      })
      .refine(
        ({ archive_base64, path, from }) =>
          from === undefined
            ? (archive_base64 === undefined) !== (path === undefined)
            : archive_base64 === undefined,
        { error: "needs archive_base64 or path, and not both; or from" },
      ),
    imports.importResult,
  ),
  "import/sources": method(
    "Sessions of other tools that were found on the gateway's machine, and how many of them belong to this workspace.",
    z.object({
      ...inWorkspace,
      from: optionalParam(imports.importTool).describe("only of this tool"),
      directory: optionalParam(plainText.min(1).max(4096)).describe(
        "counts what belongs to this directory, in place of the workspace's own",
      ),
      path: file.filePath.describe(
        "with `from`: a file or directory of the tool; default: where it keeps its sessions",
      ),
    }),
    z.object({ data: z.array(imports.importSource), not_read: z.array(imports.notRead).optional() }),
  ),
  "thread/worktree/remove": method(
    "Removes a thread's worktree. Its files move to the project first; uncommitted or unpushed work needs `force`.",
    z.object({ ...ofThread, force: optionalParam(z.boolean()) }),
    threadResult,
  ),

  "thread/agents_doc/get": method(
    "The explicit AGENTS.md of a scope, and the one in effect there.",
    doc.agentsDocGetParams,
    doc.agentsDocGetResponse,
  ),
  "thread/agents_doc/save": method(
    "Creates or updates the AGENTS.md of a scope.",
    doc.agentsDocSaveParams,
    doc.agentsDocSaveResponse,
  ),
  "thread/agents_doc/archive": method(
    "Removes the AGENTS.md of a scope; what it inherits is in effect again.",
    doc.agentsDocArchiveParams,
    doc.agentsDocArchiveResponse,
  ),
  "thread/agents_doc/resolve_for_thread": method(
    "The AGENTS.md in effect for a thread.",
    doc.agentsDocResolveForThreadParams,
    doc.agentsDocResolveForThreadResponse,
  ),
  "thread/agents_doc/revisions": method(
    "Every version a scope ever had, newest first, without content.",
    doc.agentsDocRevisionsParams,
    doc.agentsDocRevisionsResponse,
  ),
  "thread/agents_doc/revision": method(
    "One version with its content.",
    doc.agentsDocRevisionParams,
    doc.agentsDocRevisionResponse,
  ),
  "thread/agents_doc/restore": method(
    "Saves an earlier version as the scope's next one.",
    doc.agentsDocRestoreParams,
    doc.agentsDocSaveResponse,
  ),

  ...runMethods,
} as const;

export type MethodName = keyof typeof methods;
/** What a client may send. */
export type Params<M extends MethodName> = z.input<(typeof methods)[M]["params"]>;
/** What a handler gets: validated, `null` turned into absent. */
export type ParsedParams<M extends MethodName> = z.output<(typeof methods)[M]["params"]>;
export type Result<M extends MethodName> = z.output<(typeof methods)[M]["result"]>;
