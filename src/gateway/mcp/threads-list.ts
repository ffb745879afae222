import { z } from "zod";
import type { Thread } from "../../protocol/index.js";
import { answered, defineClientTool, workspaceArgument } from "./client-tool.js";

const DEFAULT_LIMIT = 20;
const MOST = 100;

/** The threads of a workspace, as a client chooses among them. */
export const threadsList = defineClientTool({
  name: "threads_list",
  title: "List threads",
  description: "Lists threads (conversations with agents) of a workspace, the most recently updated first.",
  parameters: z.strictObject({
    workspace: workspaceArgument,
    agentId: z.string().min(1).max(128).optional().describe("only threads of this agent"),
    query: z.string().max(1024).optional().describe("part of the title, in any case"),
    limit: z.int().min(1).max(MOST).optional().describe(`default ${DEFAULT_LIMIT}`),
    cursor: z.string().max(1024).optional().describe("`nextCursor` of the page before"),
  }),
  readOnly: true,
  async run({ workspace, agentId, query, limit = DEFAULT_LIMIT, cursor }, { call, ...context }) {
    const { id, name } = await context.workspace(workspace);
    const { data, next_cursor } = await call("thread/list", {
      workspace_id: id,
      limit,
      ...(agentId !== undefined && { agent_id: agentId }),
      ...(query !== undefined && { query }),
      ...(cursor !== undefined && { cursor }),
    });
    return answered({
      workspace: { id, name },
      threads: data.map(shown),
      ...(next_cursor !== undefined && { nextCursor: next_cursor }),
    });
  },
});

function shown(thread: Thread) {
  const { id, title, agent_id, status, message_count, updated_at, last_snippet, folder_id } = thread;
  return {
    threadId: id,
    title,
    agentId: agent_id,
    status,
    messageCount: message_count,
    updatedAt: new Date(updated_at * 1000).toISOString(),
    ...(folder_id !== undefined && { folderId: folder_id }),
    ...(last_snippet !== undefined && { lastSnippet: last_snippet }),
  };
}
