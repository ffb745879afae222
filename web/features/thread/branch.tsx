import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo } from "react";
import type { Run, RunApproval } from "../../../src/protocol/index.js";
import { agentName, dyeOf, useAgent } from "../../state/agents.js";
import { useRuns } from "../../state/runs.js";
import { useThread } from "../../state/tree.js";
import { count, counted, duration, elapsed } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { Markdown } from "../../ui/markdown/markdown.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { StateMark } from "../../ui/state-mark.js";
import { ApprovalCard, DecidedRow } from "./approval-card.js";
import { approvalKey } from "./decisions.js";
import { type Delegation, delegationOf } from "./delegation.js";
import { useKnownRun } from "./known-run.js";
import { useNow } from "./now.js";
import type { Call } from "./parts.js";
import { usePlace } from "./place.js";
import { useOpen } from "./reading.js";
import { Reason, Request, RequestButton } from "./request.js";

interface BranchProps {
  readonly call: Call;
  readonly rowKey: string;
  readonly run: string | undefined;
  /** Which of the calls to the same agent in this turn it is, from 0. */
  readonly nth: number;
  /** The call itself may need somebody's word. */
  readonly approval: RunApproval | undefined;
  readonly tab: number;
}

/** Work that was handed to another agent: a line of its own, its live state, and the way to its thread. */
export function Branch({ call, rowKey, run, nth, approval, tab }: BranchProps) {
  const { ws } = usePlace();
  const asked = useMemo(() => delegationOf(call), [call]);
  const child = useChild(run, asked, nth);
  const thread = useThread(asked.thread ?? child?.thread_id);
  const agent = useAgent(asked.agent);
  const { className, style } = dyeOf(agent, asked.agent);
  const threadId = thread?.id ?? asked.thread;
  const name = asked.agent === "" ? "another agent" : agentName(agent, asked.agent);
  const requestKey = `${rowKey} request`;
  return (
    <section className={`branch ${className}`} style={style} aria-label={`Asked ${name}`}>
      <div className="branch-h">
        <span className="eye" />
        <span className="ag">{asked.agent === "" ? "Another agent" : name}</span>
        <RequestButton call={call} asked={asked} rowKey={requestKey} tab={tab} />
        <span className="grow" />
        <State call={call} child={child} asked={asked} />
        {threadId !== undefined && (
          <Link className="small lone cut" tabIndex={tab} to={{ view: "thread", ws, thread: threadId }}>
            {visibleExactly(thread?.title || asked.title || "Its thread")}
          </Link>
        )}
      </div>
      <Request call={call} asked={asked} rowKey={requestKey} />
      {approval && <ApprovalCard approval={approval} />}
      {run !== undefined && !approval && <DecidedRow run_id={run} tool_call_id={call.id} />}
      <Waiting child={child} />
      <Reason asked={asked} rowKey={`${rowKey} reason`} tab={tab} />
      <Answer asked={asked} rowKey={rowKey} tab={tab} />
    </section>
  );
}

/** The run it led to: as it was answered, else the one this run began for that agent. */
function useChild(run: string | undefined, asked: Delegation, nth: number): Run | undefined {
  const { ws } = usePlace();
  const named = useKnownRun(ws, asked.run);
  const begun = useRuns(({ byId }) => {
    if (asked.run !== undefined || run === undefined) return undefined;
    return [...byId.values()]
      .filter((each) => each.parent_run_id === run && each.agent_id === asked.agent)
      .sort((a, b) => a.created_at - b.created_at || a.number - b.number)[nth];
  });
  return named ?? begun;
}

interface StateProps {
  readonly call: Call;
  readonly child: Run | undefined;
  readonly asked: Delegation;
}

function State({ call, child, asked }: StateProps) {
  const status = child?.status ?? (call.status === "running" ? "running" : undefined);
  const ticking = status === "running";
  const now = useNow(ticking);
  if (ticking) {
    const from = child?.started_at === undefined ? (call.from ?? now) : child.started_at * 1000;
    return <Said mark="running" words={`Running ${elapsed(now - from)}`} />;
  }
  if (status === "waiting") return <Said mark="waiting" words="Waiting for you" tone="warn" />;
  if (status === "queued") return <Said mark="queued" words="Queued" />;
  return <Ended status={status ?? (asked.answer === undefined ? call.status : "completed")} asked={asked} />;
}

function Ended({ status, asked }: { readonly status: string; readonly asked: Delegation }) {
  const [words, tone] = ENDED[status] ?? [];
  if (words !== undefined) return <Said words={asked.words ?? words} tone={tone} />;
  const said = asked.words ?? (status === "completed" ? answeredWords(asked) : undefined);
  return said === undefined ? null : <Said words={said} />;
}

const ENDED: Readonly<Record<string, readonly [string, string?]>> = {
  failed: ["Failed", "danger"],
  cancelled: ["Stopped"],
  interrupted: ["Interrupted", "danger"],
};

interface SaidProps {
  readonly mark?: "running" | "waiting" | "queued";
  readonly words: string;
  readonly tone?: string | undefined;
}

function Said({ mark, words, tone = "ink-3" }: SaidProps) {
  return (
    <span className={`branch-state small ${tone}`}>
      {mark && <StateMark mark={mark} silent />}
      {words}
    </span>
  );
}

function answeredWords({ calls, ms }: Delegation): string {
  const facts = [
    "Answered",
    ...(calls ? [counted(calls, "call")] : []),
    ...(ms === undefined ? [] : [duration(ms)]),
  ];
  return facts.join(", ");
}

const SHOWN_DECISIONS = 3;

/** What the delegate asks stands here too; answering it in either place answers both. */
function Waiting({ child }: { readonly child: Run | undefined }) {
  if (!child) return null;
  const { approvals: waiting = [], decisions = [] } = child;
  const earlier = decisions.length - SHOWN_DECISIONS;
  return (
    <>
      {earlier > 0 && <p className="decided">{count(earlier)} answered before, in its thread</p>}
      {decisions.slice(-SHOWN_DECISIONS).map(({ tool_call_id }) => (
        <DecidedRow key={tool_call_id} run_id={child.id} tool_call_id={tool_call_id} />
      ))}
      {waiting.map((one) => (
        <ApprovalCard key={approvalKey(one)} approval={one} />
      ))}
    </>
  );
}

interface AnswerProps {
  readonly asked: Delegation;
  readonly rowKey: string;
  readonly tab: number;
}

function Answer({ asked, rowKey, tab }: AnswerProps) {
  const [open, toggle] = useOpen(rowKey, false, asked.answer ?? "");
  if (!asked.answer) return null;
  return (
    <>
      <button
        type="button"
        className="call"
        aria-expanded={open}
        tabIndex={tab}
        data-row={rowKey}
        onClick={toggle}
      >
        <span className="arg plain">
          {visibleExactly(asked.answer.split("\n", 1)[0] ?? "").slice(0, 200)}
        </span>
        <span className="r">
          <Icon of={open ? ChevronDown : ChevronRight} size={12} />
        </span>
      </button>
      {open && (
        <div className="read said">
          <Markdown text={asked.answer} />
        </div>
      )}
    </>
  );
}
