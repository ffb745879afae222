import { z } from "zod";
import { agentChangedNotification } from "./agents.js";
import { agentsDocChangedNotification } from "./agents-doc.js";
import { artifactChangedNotification } from "./artifacts.js";
import { seq } from "./common.js";
import { threadId, workspaceId } from "./ids.js";
import { importProgressNotification } from "./imports.js";
import { promptChangedNotification } from "./prompts.js";
import * as runs from "./runs.js";
import { indexingNotification, messageAppendedNotification, threadSetupNotification } from "./threads.js";
import { thread, treeChangedNotification } from "./tree.js";

/** Every notification a client may get. Those with a `seq` are durable and can be replayed. */
export const notifications = {
  "thread/agents_doc/changed": agentsDocChangedNotification,
  "thread/tree/changed": treeChangedNotification,
  "thread/changed": z.object({ thread, seq }).describe("A thread was made or one of its fields changed."),
  "thread/deleted": z
    .object({ workspace_id: workspaceId, thread_id: threadId, seq })
    .describe("A thread left every list."),
  "message/appended": messageAppendedNotification,
  "thread/setup": threadSetupNotification,
  "run/changed": runs.runChangedNotification,
  "run/delta": runs.runDeltaNotification,
  "run/tool": runs.runToolNotification,
  "prompt/changed": promptChangedNotification,
  "artifact/changed": artifactChangedNotification,
  "agent/changed": agentChangedNotification,
  "workspace/indexing": indexingNotification,
  "import/progress": importProgressNotification,
} as const;

export type NotificationName = keyof typeof notifications;
export type NotificationParams<N extends NotificationName> = z.output<(typeof notifications)[N]>;
