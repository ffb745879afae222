import { useCallback, useEffect, useRef, useState } from "react";
import { agentName, useAgent } from "../../state/agents.js";
import { type Matter, useNewsMatters } from "../../state/attention.js";
import { useThread, useTree } from "../../state/tree.js";
import { count, when } from "../../ui/format.js";
import { Link } from "../../ui/link.js";
import { StateMark } from "../../ui/state-mark.js";

/** How much waits; opens the list of it. Without anything that waits or is new there is none. */
export function WaitingButton({ matters }: { readonly matters: readonly Matter[] }) {
  const ws = useTree((tree) => tree.ws);
  const news = useNewsMatters(ws);
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = useCallback(() => setOpen(false), []);
  const all = [...matters, ...news];
  if (all.length === 0) return null;
  const [number, word] = matters.length > 0 ? [matters.length, "waiting"] : [news.length, "new"];
  return (
    <>
      <button
        ref={button}
        type="button"
        className="foot-wait"
        aria-haspopup="dialog"
        aria-expanded={open}
        title="Waiting for you"
        onClick={() => setOpen(!open)}
      >
        <span className="foot-number">
          <StateMark mark={matters.length > 0 ? "waiting" : "new"} silent />
          {count(number)}
        </span>{" "}
        <span>{word}</span>
      </button>
      {open && <WaitingList matters={all} opener={button.current} onClose={close} />}
    </>
  );
}

interface WaitingListProps {
  readonly matters: readonly Matter[];
  readonly opener: HTMLElement | null;
  onClose(): void;
}

/** `Waiting for you`: each with the way to it. */
function WaitingList({ matters, opener, onClose }: WaitingListProps) {
  const ref = useRef<HTMLElement>(null);
  useEffect(() => {
    ref.current?.querySelector<HTMLElement>("a")?.focus();
    const outside = ({ target }: PointerEvent) => {
      const inside = ref.current?.contains(target as Node) || opener?.contains(target as Node);
      if (!inside) onClose();
    };
    addEventListener("pointerdown", outside, true);
    return () => removeEventListener("pointerdown", outside, true);
  }, [onClose, opener]);
  return (
    <section
      ref={ref}
      className="menu wait-list"
      role="dialog"
      aria-label="Waiting for you"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        onClose();
        opener?.focus();
      }}
    >
      <h2 className="label">Waiting for you</h2>
      <ul>
        {matters.map((matter) => (
          <li key={matter.key}>
            <MatterRow matter={matter} onClose={onClose} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function MatterRow({ matter, onClose }: { readonly matter: Matter; onClose(): void }) {
  const { kind, thread_id, tool, agent_id = "", at } = matter;
  const ws = useTree((tree) => tree.ws) as string;
  const thread = useThread(thread_id);
  const agent = agentName(useAgent(agent_id), agent_id);
  const says = {
    waiting: `${agent} asks to use ${tool}`,
    answer: `${agent} answered`,
    failed: `${agent} failed`,
  }[kind];
  return (
    <Link to={{ view: "thread", ws, thread: thread_id }} className="wait-row" onClick={onClose}>
      <StateMark mark={kind === "answer" ? "new" : kind} silent />
      <span className="grow">
        <span className="row-x">
          <span className="label cut grow">{thread?.title ?? "Thread"}</span>
          {at !== undefined && <span className="small ink-3 num">{when(at)}</span>}
        </span>
        <span className="small ink-3 cut">{says}</span>
      </span>
    </Link>
  );
}
