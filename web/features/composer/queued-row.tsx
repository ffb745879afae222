import { Pencil, X } from "lucide-react";
import type { Run } from "../../../src/protocol/index.js";
import { agentName, useAgent } from "../../state/agents.js";
import { splitContextLine } from "../../state/context-line.js";
import { toastProblem } from "../../state/toasts.js";
import { IconButton } from "../../ui/button.js";
import { StateMark } from "../../ui/state-mark.js";
import { useBusy } from "../../ui/use-busy.js";
import { editQueued, readQueued, removeQueued } from "./edit-queued.js";
import { RowEditor } from "./row-editor.js";

export interface RowProps {
  /** It is edited: because somebody just chose to, or because an edit was begun before. */
  readonly editing: "chosen" | "begun" | undefined;
  onEdit(on: boolean): void;
}

/** A message that the gateway will ask when its turn comes. */
export function QueuedRow({
  run,
  next,
  editing,
  onEdit,
}: RowProps & { readonly run: Run; readonly next: boolean }) {
  const { text } = splitContextLine(run.content ?? "");
  const [removing, work] = useBusy();
  if (editing) {
    return (
      <RowEditor
        name={{ thread: run.thread_id, row: run.id }}
        chosen={editing === "chosen"}
        load={() => readQueued(run)}
        save={(text_) => editQueued(run, text_)}
        onClose={() => onEdit(false)}
      />
    );
  }
  return (
    <li>
      <StateMark mark="queued" silent />
      <span className="grow cut" title={text}>
        <Sender run={run} />
        {text}
      </span>
      {next && <span className="small ink-3">Next</span>}
      {!run.origin && <IconButton icon={Pencil} small label="Edit" onClick={() => onEdit(true)} />}
      <IconButton
        icon={X}
        small
        label="Remove"
        busy={removing}
        onClick={() => work(() => removeQueued(run).catch(toastProblem))}
      />
    </li>
  );
}

/** Who asked, when it was no person. */
function Sender({ run: { origin } }: { readonly run: Run }) {
  const agent = useAgent(origin?.agent_id);
  if (!origin) return null;
  return <span className="ink-3">From {agentName(agent, origin.agent_id)}: </span>;
}
