import type { Plugin } from "../../tools/index.js";
import type { RunsDeps } from "../deps.js";
import { agentsList } from "./list-tool.js";
import { agentsMessage } from "./message-tool.js";

/** What agents have of each other. The tools are made before what they work with is complete. */
export function agentsPlugin(deps: () => RunsDeps): Plugin {
  return {
    id: "agents",
    title: "Agents",
    description: "Ask other agents, and see which there are.",
    tools: [agentsMessage(deps), agentsList(deps)],
    guide:
      "`agents_message` waits for the answer unless `mode` is `async`; then the result comes back to the thread by itself, failures too.",
  };
}
