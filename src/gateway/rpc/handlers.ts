import { isKind } from "../../base/index.js";
import * as instructions from "../../instructions/index.js";
import type { ParsedParams } from "../../protocol/index.js";
import { cancelAll, giveBackLeft, removeWorkspace, sendInitialPrompt, whileIdle } from "../../runs/index.js";
import * as threads from "../../threads/index.js";
import * as tree from "../../tree/index.js";
import type { Context, HandlerDeps, Handlers } from "./handler.js";
import { importHandlers } from "./import-handlers.js";
import type { Peer } from "./peer.js";
import { runHandlers } from "./run-handlers.js";
import { subscribe, unsubscribe } from "./subscribe.js";

/** Which function carries out which method. */
export function createHandlers(deps: HandlerDeps): Handlers {
  const hello = {
    server: { name: "heddle", version: deps.version },
    protocol_version: "1",
    capabilities: { batch: true, resume: true },
  };
  const greet = async ({ client }: ParsedParams<"initialize">, { peer }: Context) => {
    if (client !== undefined) peer.client = typeof client === "string" ? client : client.name;
    return hello;
  };
  return {
    initialize: greet,
    ping: greet,
    subscribe: (params, context) => subscribe(deps, params, context),
    unsubscribe: (params, { peer }) => unsubscribe(deps, params, peer),

    "workspace/list": (params) => tree.listWorkspaces(deps, params),
    "workspace/create": (params, { call }) => tree.createWorkspace(deps, params, call),
    "workspace/get": (params) => threads.describeWorkspace(deps, params),
    "workspace/update": (params, { call }) => threads.rebindWorkspace(deps, deps.watching, params, call),
    "workspace/delete": async (params, { call }) => {
      const remove = () => tree.deleteWorkspace(deps, params, call);
      const result = await removeWorkspace(deps, params.workspace_id, call, remove);
      deps.watching.forget(params.workspace_id);
      await deps.project.refresh(params.workspace_id);
      return result;
    },
    "workspace/undelete": async (params, { call }) => {
      const result = await tree.undeleteWorkspace(deps, params, call);
      await deps.project.refresh(params.workspace_id);
      await giveBackLeft(deps, params.workspace_id);
      return result;
    },
    "workspace/trust": async (params, { call }) => {
      const result = await threads.trustContent(deps, params);
      const { thread_id, workspace_id, kind } = params;
      if (result.trusted && kind === "worktree_hooks" && thread_id !== undefined)
        sendInitialPrompt(deps, await threads.setUpAgain(deps, { workspace_id, thread_id }, call));
      return result;
    },
    "workspace/reindex": (params) => threads.reindexWorkspace(deps, deps.watching, params),

    "thread/tree": (params) => tree.readTree(deps, params),
    "thread/folder/create": (params, { call }) => tree.createFolder(deps, params, call),
    "thread/folder/rename": (params, { call }) =>
      followed(deps, params, tree.renameFolder(deps, params, call)),
    "thread/folder/move": (params, { call }) => followed(deps, params, tree.moveFolder(deps, params, call)),
    "thread/folder/delete": (params, { call }) =>
      followed(deps, { workspace_id: params.workspace_id }, tree.deleteFolder(deps, params, call)),

    "thread/start": async (params, { call }) => {
      const result = await threads.startThread(deps, params, call);
      deps.watching.began(result.thread);
      sendInitialPrompt(deps, result.thread);
      return result;
    },
    "thread/list": (params) => tree.listThreads(deps, params),
    "thread/get": async (params, { peer }) => tree.getThread(deps, await located(deps, params, peer)),
    "thread/update": async (params, { call, peer }) =>
      threads.updateThread(deps, await located(deps, params, peer), call),
    "thread/move": async (params, { call, peer }) =>
      threads.moveThread(deps, await located(deps, params, peer), call),
    "thread/clear": (params, context) => atRest(deps, params, context, threads.clearThread),
    "thread/unclear": (params, context) => atRest(deps, params, context, threads.unclearThread),
    "thread/delete": async (params, { call, peer }) => {
      const thread = await located(deps, params, peer);
      await cancelAll(deps, thread, call);
      return threads.deleteThread(deps, thread, call);
    },
    "thread/undelete": async (params, { call, peer }) =>
      threads.undeleteThread(deps, await located(deps, params, peer, "deleted"), call),
    "thread/messages": async (params, { peer }) =>
      threads.listMessages(deps, await located(deps, params, peer)),
    "message/append": async (params, { call, peer }) =>
      threads.appendMessage(deps, await located(deps, params, peer), call),
    "thread/search": (params) => threads.searchMessages(deps, params),
    "thread/export": async (params, { peer }) =>
      threads.exportThread(deps, await located(deps, params, peer)),
    "thread/worktree/remove": (params, context) =>
      atRest(deps, params, context, threads.removeThreadWorktree),

    "thread/agents_doc/get": (params) => instructions.getDoc(deps, params),
    "thread/agents_doc/save": (params, { call }) => instructions.saveDoc(deps, params, call),
    "thread/agents_doc/archive": (params, { call }) => instructions.archiveDoc(deps, params, call),
    "thread/agents_doc/resolve_for_thread": async (params, { peer }) =>
      instructions.resolveForThread(deps, await located(deps, params, peer)),
    "thread/agents_doc/revisions": (params) => instructions.listRevisions(deps, params),
    "thread/agents_doc/revision": (params) => instructions.getRevision(deps, params),
    "thread/agents_doc/restore": (params, { call }) => instructions.restoreDoc(deps, params, call),

    ...importHandlers(deps),
    ...runHandlers(deps, (params, peer) => located(deps, params, peer)),
  };
}

type Located<P> = Omit<P, "workspace_id"> & { workspace_id: string };

/** Fills in the workspace of a thread that was named alone, and lets the peer hear of it. */
async function located<P extends { thread_id: string; workspace_id?: string | undefined }>(
  deps: HandlerDeps,
  params: P,
  { subscriptions }: Peer,
  state: "living" | "deleted" = "living",
): Promise<Located<P>> {
  const workspace_id = await findWorkspace(deps, params, state);
  subscriptions?.follow(workspace_id);
  await deps.watching.open(workspace_id);
  deps.watching.touch(workspace_id, params.thread_id);
  return { ...params, workspace_id };
}

/** What takes the place of a thread's files waits for nobody: while a run is under way it is refused. */
async function atRest<P extends { thread_id: string; workspace_id?: string | undefined }, R>(
  deps: HandlerDeps,
  params: P,
  { call, peer }: Context,
  work: (deps: HandlerDeps, params: Located<P>, call: Context["call"]) => Promise<R>,
): Promise<R> {
  const thread = await located(deps, params, peer);
  return whileIdle(deps, thread, () => work(deps, thread, call));
}

/** Another program may have made the thread in a workspace nobody has looked at yet. */
async function findWorkspace(
  deps: HandlerDeps,
  params: { thread_id: string; workspace_id?: string | undefined },
  state: "living" | "deleted",
): Promise<string> {
  try {
    return await tree.workspaceOfThread(deps, params, state);
  } catch (error) {
    if (!isKind(error, "thread.not_found")) throw error;
    await deps.watching.openAll();
    return tree.workspaceOfThread(deps, params, state);
  }
}

/** Threads' files name their folders: they follow, but nobody waits for that. */
async function followed<T>(
  deps: HandlerDeps,
  { workspace_id, folder_id }: { workspace_id: string; folder_id?: string },
  work: Promise<T>,
): Promise<T> {
  const result = await work;
  threads.folderChanged(deps, workspace_id, folder_id);
  return result;
}
