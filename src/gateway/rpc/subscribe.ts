import type { ParsedParams, Result } from "../../protocol/index.js";
import { liveOf, type RunsDeps } from "../../runs/index.js";
import { notifications, type Store } from "../../store/index.js";
import * as tree from "../../tree/index.js";
import { gatewayError } from "./errors.js";
import type { Exchange, Peer, Subscriptions } from "./peer.js";

type SubscribeDeps = Pick<RunsDeps, "sessions"> & tree.TreeDeps;

/** Follows a workspace, and a thread's live stream too where one is named. */
export async function subscribe(
  deps: SubscribeDeps,
  params: ParsedParams<"subscribe">,
  { peer, exchange }: { peer: Peer; exchange: Exchange },
): Promise<Result<"subscribe">> {
  const { subscriptions } = peer;
  if (!subscriptions) {
    throw gatewayError(
      { kind: "request.needs_connection", method: "subscribe" },
      "Notifications need a connection that stays open: use the WebSocket at /rpc, or stdio.",
    );
  }
  const { thread_id, after_seq } = params;
  const workspace_id = await workspaceNamed(deps, params);
  const answer =
    after_seq === undefined
      ? await followLive(deps.store, workspace_id, subscriptions)
      : await followFrom(deps.store, { workspace_id, after_seq }, subscriptions, exchange);
  if (thread_id !== undefined) followThread(deps, subscriptions, exchange, { workspace_id, thread_id });
  return answer;
}

/** Who comes in the middle of an answer gets what came so far: offsets tell what of it is new. */
function followThread(
  deps: SubscribeDeps,
  subscriptions: Subscriptions,
  exchange: Exchange,
  thread: { workspace_id: string; thread_id: string },
): void {
  subscriptions.followThread(thread.workspace_id, thread.thread_id);
  exchange.onAnswered(() => {
    for (const note of liveOf(deps, thread)) subscriptions.tell(note);
  });
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

/** Also of what is gone by now: whoever leaves need not know that. `seq` is 0 then. */
export async function unsubscribe(
  deps: SubscribeDeps,
  { workspace_id, thread_id }: ParsedParams<"unsubscribe">,
  { subscriptions }: Peer,
): Promise<Result<"unsubscribe">> {
  const left =
    thread_id === undefined
      ? subscriptions?.unfollow(workspace_id as string)
      : subscriptions?.unfollowThread(thread_id, workspace_id);
  const range =
    workspace_id === undefined
      ? undefined
      : await deps.store.read(() => notifications.notificationRange(workspace_id));
  return { seq: range?.seq ?? 0, resync: false, unsubscribed: left === true };
}

/** The workspace itself, or that of the thread. */
async function workspaceNamed(
  deps: SubscribeDeps,
  { workspace_id = "", thread_id }: { workspace_id?: string | undefined; thread_id?: string | undefined },
): Promise<string> {
  if (thread_id === undefined) return workspace_id;
  return (await tree.getThread(deps, { workspace_id: workspace_id || undefined, thread_id })).thread
    .workspace_id;
}
