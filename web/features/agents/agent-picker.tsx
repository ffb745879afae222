import type { Thread } from "../../../src/protocol/index.js";

/** The agent of a thread in its header, and the way to another one. */
export function AgentPicker({ thread }: { readonly thread: Thread }) {
  return <button type="button">{thread.agent_id}</button>;
}
