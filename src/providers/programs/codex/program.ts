import type { Program } from "../program.js";
import { CodexConversation } from "./conversation.js";

/** Codex, by its `app-server`: requests, answers and notifications as lines of JSON, one process for each thread. */
export const codex: Program = {
  id: "codex-cli",
  converse: (turn, config) => new CodexConversation(turn, config),
};
