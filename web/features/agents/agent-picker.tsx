import { ArrowLeft, ChevronDown } from "lucide-react";
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { agentName, dyeOf, useAgent } from "../../state/agents.js";
import { type Command, useCommands } from "../../state/commands.js";
import { call } from "../../state/gateway.js";
import { navigate } from "../../state/router.js";
import { useThread } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import "./agents.css";

const AgentMenu = lazy(() => import("./agent-menu.js"));

interface AgentPickerProps {
  readonly thread: Thread;
  /** Where the thread stands: with it the picker is the second line of a narrow header. */
  readonly path?: string;
}

/** The agent of a thread in its header, and the way to another one and back. */
export function AgentPicker({ thread, path }: AgentPickerProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  const agent = useAgent(thread.agent_id);
  const { className, style } = dyeOf(agent, thread.agent_id);
  const name = agentName(agent, thread.agent_id);
  useCommands(
    useMemo<readonly Command[]>(
      () => [{ id: "agent", title: "Choose an agent, its model or its tools", run: () => setOpen(true) }],
      [],
    ),
  );
  return (
    <>
      {path === undefined && <BackTo thread={thread} />}
      <button
        ref={button}
        type="button"
        className={`${path === undefined ? "pick agent-pick" : "agent-line small"} ${className}`}
        style={style}
        aria-label={`Agent: ${name}${path ? ` in ${path}` : ""}${agent?.available === false ? ", not available" : ""}`}
        aria-haspopup="dialog"
        aria-expanded={open}
        title={agent?.available === false ? agent.reason : undefined}
        onClick={() => setOpen(!open)}
      >
        {path === undefined && <span className={`tick${agent?.available === false ? " off" : ""}`} />}
        <span className={path === undefined ? "cut" : "ag cut"}>{visibleExactly(name)}</span>
        {/* The space is for whoever hears it: its name and what it shows are the same words. */}
        {path && " "}
        {path && <span className="ink-3 cut">in {visibleExactly(path)}</span>}
        <Icon of={ChevronDown} size={12} />
      </button>
      {open && button.current && (
        <Suspense>
          <AgentMenu thread={thread} anchor={button.current} onClose={close} />
        </Suspense>
      )}
    </>
  );
}

/** Where a thread that somebody was switched to leads back. */
function BackTo({ thread }: { readonly thread: Thread }) {
  const to = thread.attributes?.returnTo;
  const left = useThread(typeof to === "string" ? to : undefined);
  if (!left || left.id === thread.id) return null;
  const back = () => {
    navigate({ view: "thread", ws: left.workspace_id, thread: left.id });
    // The way back was taken; one that can't be forgotten is only shown again.
    call("thread/update", { thread_id: thread.id, attributes: { returnTo: null } }).catch(() => {});
  };
  const title = `Back to ${left.title || "Untitled"}`;
  return <IconButton icon={ArrowLeft} label={title} className="agent-back only-wide" onClick={back} />;
}
