import { chatVoice } from "./voices/chat.js";
import { geminiVoice } from "./voices/gemini.js";
import { messagesVoice } from "./voices/messages.js";
import { responsesVoice } from "./voices/responses.js";
import type { SpokenUsage, Voice } from "./voices/voice.js";

/** The protocol is told by the path, as at the real servers. */
export type Protocol = "responses" | "chat" | "messages" | "gemini";

export function protocolOf(path: string): Protocol | undefined {
  if (path.endsWith("/responses")) return "responses";
  if (path.endsWith("/chat/completions")) return "chat";
  if (path.endsWith("/messages")) return "messages";
  return path.includes(":streamGenerateContent") ? "gemini" : undefined;
}

export function voiceOf(protocol: Protocol, expected: SpokenUsage | undefined): Voice {
  if (protocol === "responses") return responsesVoice();
  if (protocol === "chat") return chatVoice();
  return protocol === "messages" ? messagesVoice(expected) : geminiVoice();
}

/** How each protocol words a refusal. */
export function errorBody(protocol: Protocol, { type, message }: { type: string; message: string }): object {
  if (protocol === "messages") return { type: "error", error: { type, message } };
  return { error: { type, message, code: type, status: type } };
}
