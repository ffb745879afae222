import * as instructions from "../../instructions/index.js";
import type { MethodName, ParsedParams, Result } from "../../protocol/index.js";
import { notifications, type Store } from "../../store/index.js";
import * as tree from "../../tree/index.js";
import { gatewayError } from "./errors.js";
import type { Exchange, Peer, Subscriptions } from "./peer.js";

export interface Context {
  readonly call: tree.Call;
  readonly peer: Peer;
  readonly exchange: Exchange;
}

export type Handlers = {
  readonly [M in MethodName]: (params: ParsedParams<M>, context: Context) => Promise<Result<M>>;
};

export interface HandlerDeps extends tree.TreeDeps {
  readonly resolver: instructions.Resolver;
  readonly version: string;
}

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
    unsubscribe: async (params, { peer }) => unsubscribe(params, peer),

    "workspace/list": (params) => tree.listWorkspaces(deps, params),
    "workspace/create": (params, { call }) => tree.createWorkspace(deps, params, call),
    "workspace/get": (params) => tree.getWorkspace(deps, params),
    "workspace/update": (params, { call }) => tree.updateWorkspace(deps, params, call),
    "workspace/delete": (params, { call }) => tree.deleteWorkspace(deps, params, call),
    "workspace/undelete": (params, { call }) => tree.undeleteWorkspace(deps, params, call),

    "thread/tree": (params) => tree.readTree(deps, params),
    "thread/folder/create": (params, { call }) => tree.createFolder(deps, params, call),
    "thread/folder/rename": (params, { call }) => tree.renameFolder(deps, params, call),
    "thread/folder/move": (params, { call }) => tree.moveFolder(deps, params, call),
    "thread/folder/delete": (params, { call }) => tree.deleteFolder(deps, params, call),

    "thread/start": (params, { call }) => tree.startThread(deps, params, call),
    "thread/list": (params) => tree.listThreads(deps, params),
    "thread/get": async (params, { peer }) => tree.getThread(deps, await located(deps, params, peer)),
    "thread/update": async (params, { call, peer }) =>
      tree.updateThread(deps, await located(deps, params, peer), call),
    "thread/move": async (params, { call, peer }) =>
      tree.moveThread(deps, await located(deps, params, peer), call),
    "thread/delete": async (params, { call, peer }) =>
      tree.deleteThread(deps, await located(deps, params, peer), call),
    "thread/undelete": async (params, { call, peer }) =>
      tree.undeleteThread(deps, await located(deps, params, peer, "deleted"), call),

    "thread/agents_doc/get": (params) => instructions.getDoc(deps, params),
    "thread/agents_doc/save": (params, { call }) => instructions.saveDoc(deps, params, call),
    "thread/agents_doc/archive": (params, { call }) => instructions.archiveDoc(deps, params, call),
    "thread/agents_doc/resolve_for_thread": async (params, { peer }) =>
      instructions.resolveForThread(deps, await located(deps, params, peer)),
    "thread/agents_doc/revisions": (params) => instructions.listRevisions(deps, params),
    "thread/agents_doc/revision": (params) => instructions.getRevision(deps, params),
    "thread/agents_doc/restore": (params, { call }) => instructions.restoreDoc(deps, params, call),
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
  const workspace_id = await tree.workspaceOfThread(deps, params, state);
  subscriptions?.follow(workspace_id);
  return { ...params, workspace_id };
}

async function subscribe(
  deps: HandlerDeps,
  params: ParsedParams<"subscribe">,
  { peer, exchange }: Context,
): Promise<Result<"subscribe">> {
  const { subscriptions } = peer;
  if (!subscriptions) {
    throw gatewayError(
      { kind: "request.needs_connection", method: "subscribe" },
      "Notifications need a connection that stays open: use the WebSocket at /rpc, or stdio.",
    );
  }
  const { thread_id, after_seq } = params;
  let { workspace_id = "" } = params;
  if (thread_id !== undefined) {
    ({ workspace_id } = (await tree.getThread(deps, { ...params, thread_id })).thread);
  }
  const answer =
    after_seq === undefined
      ? await followLive(deps.store, workspace_id, subscriptions)
      : await followFrom(deps.store, { workspace_id, after_seq }, subscriptions, exchange);
  if (thread_id !== undefined) subscriptions.followThread(thread_id);
  return answer;
}

/** Follows first and reads the number then: what is committed in between is delivered, not missed. */
async function followLive(
  store: Store,
  workspace_id: string,
  subscriptions: Subscriptions,
): Promise<Result<"subscribe">> {
  const added = subscriptions.follow(workspace_id);
  try {
    return { seq: (await rangeOf(store, workspace_id)).seq, resync: false };
  } catch (error) {
    if (added) subscriptions.unfollow(workspace_id);
    throw error;
  }
}

/** What is committed while the numbers are read is held back: it has its place behind what was missed. */
async function followFrom(
  store: Store,
  { workspace_id, after_seq }: { workspace_id: string; after_seq: number },
  subscriptions: Subscriptions,
  exchange: Exchange,
): Promise<Result<"subscribe">> {
  const held = subscriptions.hold(workspace_id);
  try {
    const { seq, oldest = seq + 1 } = await rangeOf(store, workspace_id);
    const resync = after_seq > seq || after_seq < oldest - 1;
    held.replay(resync ? seq : after_seq, exchange);
    return { seq, resync };
  } catch (error) {
    held.release();
    throw error;
  }
}

async function rangeOf(store: Store, workspace_id: string): Promise<notifications.NotificationRange> {
  const range = await store.read(() => notifications.notificationRange(workspace_id));
  if (!range) throw tree.workspaceNotFound(workspace_id);
  return range;
}

function unsubscribe(
  { workspace_id, thread_id }: ParsedParams<"unsubscribe">,
  { subscriptions }: Peer,
): Result<"unsubscribe"> {
  const left = workspace_id !== undefined && subscriptions?.unfollow(workspace_id);
  const leftThread = thread_id !== undefined && subscriptions?.unfollowThread(thread_id);
  return { unsubscribed: left === true || leftThread === true };
}
