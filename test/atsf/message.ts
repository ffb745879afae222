import type { Message } from "../../src/atsf/index.js";

export function textMessage(id: string, text = id, more: Partial<Message> = {}): Message {
  return {
    id,
    role: "user",
    timestamp: "2026-01-02T03:04:05.000Z",
    content: [{ type: "text", text }],
    ...more,
  };
}
