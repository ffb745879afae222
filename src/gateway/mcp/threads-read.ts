import { z } from "zod";
import type { Message } from "../../protocol/index.js";
import { answered, defineClientTool } from "./client-tool.js";

const DEFAULT_LIMIT = 20;
const MOST = 100;
/** Of one message, and of one output: a client's model has to hold the page. */
const MOST_CHARS = 16_000;
const MOST_OUTPUT = 2_000;

/** A page of a thread, in words. */
export const threadsRead = defineClientTool({
  name: "threads_read",
  title: "Read a thread",
  description:
    "Reads messages of a thread, a page at a time: what was asked, what the agent answered and which tools it called.",
  parameters: z.strictObject({
    threadId: z.string().min(1).max(255).describe("the thread"),
    order: z.enum(["asc", "desc"]).optional().describe("`desc` (default): the newest first"),
    limit: z.int().min(1).max(MOST).optional().describe(`messages at a time; default ${DEFAULT_LIMIT}`),
    cursor: z.string().max(1024).optional().describe("`nextCursor` of the page before"),
  }),
  readOnly: true,
  async run({ threadId, order = "desc", limit = DEFAULT_LIMIT, cursor }, { call }) {
    const { thread } = await call("thread/get", { thread_id: threadId });
    const { workspace_id, title, agent_id, status, message_count } = thread;
    const { data, next_cursor } = await call("thread/messages", {
      workspace_id,
      thread_id: threadId,
      order,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    return answered({
      thread: { threadId, title, agentId: agent_id, status, messageCount: message_count },
      messages: data.map(shown),
      ...(next_cursor !== undefined && { nextCursor: next_cursor }),
    });
  },
});

function shown({ id, role, timestamp, content, toolCalls = [], run_id }: Message) {
  const text = content.map(textOf).filter(Boolean).join("\n\n");
  return {
    messageId: id,
    role,
    ...(timestamp !== undefined && { timestamp }),
    ...(run_id !== undefined && { responseId: run_id }),
    text: cut(text, MOST_CHARS),
    ...(toolCalls.length > 0 && { toolCalls: toolCalls.map(shownCall) }),
  };
}

function textOf(block: Message["content"][number]): string {
  if (block.type === "text" && typeof block.text === "string") return block.text;
  return block.type === "image" ? "[image]" : "";
}

function shownCall({ name, status, input, output }: Record<string, unknown>) {
  return {
    name,
    status,
    ...(typeof input === "string" && { input: cut(input, MOST_OUTPUT) }),
    ...(typeof output === "string" && { output: cut(output, MOST_OUTPUT) }),
  };
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).toWellFormed()}… [${text.length - most} more characters]`;
}
