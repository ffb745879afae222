import { X } from "lucide-react";
import { agentName, dyeOf, useAgent } from "../../state/agents.js";
import { setDraft } from "../../state/drafts.js";
import { IconButton } from "../../ui/button.js";

interface AddresseeProps {
  readonly threadId: string;
  readonly to: string;
}

/** The message goes to another agent than the thread's, in that one's own thread. */
export function Addressee({ threadId, to }: AddresseeProps) {
  const agent = useAgent(to);
  const { className, style } = dyeOf(agent, to);
  return (
    <div className={`addressee ${className}`} style={style}>
      <span className="tick" />
      <span className="grow cut">
        To <b className="ag">{agentName(agent, to)}</b>, in its own thread
      </span>
      <IconButton
        icon={X}
        small
        label={`Do not send to ${agentName(agent, to)}`}
        onClick={() => setDraft(threadId, { to: undefined })}
      />
    </div>
  );
}
