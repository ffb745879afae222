import { agentName, useAgent } from "../../state/agents.js";
import { navigate } from "../../state/router.js";
import { docInEffect, docName, useThread, useTree } from "../../state/tree.js";
import { usePlace } from "./place.js";

/** What this is, what applies, and what to do first. */
export function EmptyThread() {
  const { ws, thread: id } = usePlace();
  const thread = useThread(id);
  const agent = useAgent(thread?.agent_id);
  const doc = useTree((tree) => docInEffect(tree, thread?.folder_id));
  const name = useTree((tree) => docName(tree, doc?.folder_id));
  return (
    <div className="blank">
      <h2>Nothing has been said here yet</h2>
      <p className="ink-2">
        {agentName(agent, thread?.agent_id ?? "")} answers what you write below
        {doc ? ", following " : ". No AGENTS.md applies here."}
        {doc && (
          <button
            type="button"
            className="link"
            onClick={() => navigate({ view: "doc", ws, folder: doc.folder_id })}
          >
            {name} v{doc.version}
          </button>
        )}
        {doc && "."}
      </p>
    </div>
  );
}
