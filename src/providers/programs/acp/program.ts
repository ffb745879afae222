import type { Program } from "../program.js";
import { AcpConversation } from "./conversation.js";

export const acp: Program = {
  id: "acp",
  converse: (turn, config) => new AcpConversation(turn, config),
};
