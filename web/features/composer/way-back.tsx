import { CornerUpLeft, X } from "lucide-react";
import type { Thread } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { useThread } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";

/** The thread that was left to write to this one's agent, until the way back was taken. */
export function WayBack({ thread }: { readonly thread: Thread }) {
  const to = thread.attributes?.returnTo;
  const left = useThread(typeof to === "string" ? to : undefined);
  if (!left || left.id === thread.id) return null;
  // One that can't be forgotten is only shown again.
  const forget = () => {
    const { workspace_id, id: thread_id } = thread;
    call("thread/update", { workspace_id, thread_id, attributes: { returnTo: null } }).catch(() => {});
  };
  return (
    <div className="strip way-back">
      <Icon of={CornerUpLeft} size={14} />
      <span className="grow cut">
        Back to{" "}
        <Link
          className="lone"
          to={{ view: "thread", ws: left.workspace_id, thread: left.id }}
          onClick={forget}
        >
          {left.title || "Untitled"}
        </Link>
      </span>
      <IconButton icon={X} small label="Forget the way back" onClick={forget} />
    </div>
  );
}
