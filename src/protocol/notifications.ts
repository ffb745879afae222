import { z } from "zod";
import { agentsDocChangedNotification } from "./agents-doc.js";
import { seq } from "./common.js";
import { threadId, workspaceId } from "./ids.js";
import { thread, treeChangedNotification } from "./tree.js";

/** Every notification a client may get. Each of these is durable: it has a `seq` and can be replayed. */
export const notifications = {
  "thread/agents_doc/changed": agentsDocChangedNotification,
  "thread/tree/changed": treeChangedNotification,
  "thread/changed": z.object({ thread, seq }).describe("A thread was made or one of its fields changed."),
  "thread/deleted": z
    .object({ workspace_id: workspaceId, thread_id: threadId, seq })
    .describe("A thread left every list."),
} as const;

export type NotificationName = keyof typeof notifications;
export type NotificationParams<N extends NotificationName> = z.output<(typeof notifications)[N]>;
