import { CornerDownRight, CornerUpLeft } from "lucide-react";
import { type CSSProperties, useEffect, useState } from "react";
import type { Run, RunOrigin } from "../../../src/protocol/index.js";
import { agentName, dyeOf, useAgent } from "../../state/agents.js";
import type { ThreadRoute } from "../../state/router.js";
import { isUnderWay } from "../../state/runs.js";
import { count, counted, elapsed, when } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { type Mark, StateMark } from "../../ui/state-mark.js";
import { type RunRow, useDelegated } from "./runs-list.js";

interface RunItemProps {
  readonly row: RunRow;
  readonly route: ThreadRoute;
  readonly isShown: boolean;
  readonly style: CSSProperties;
  readonly place: { readonly at: number; readonly of: number };
  readonly tabIndex: 0 | -1;
  onFocus(): void;
}

/** Rows that only pass by are not worth a question. */
const STAYS_MS = 150;

export function RunItem({ row, route, isShown, style, place, tabIndex, onFocus }: RunItemProps) {
  const { run, depth } = row;
  const agent = useAgent(run.agent_id);
  const dye = dyeOf(agent, run.agent_id);
  useDelegated(run, useStays() && depth === 0);
  const to: ThreadRoute = {
    view: "thread",
    ws: route.ws,
    thread: run.thread_id,
    pane: "context",
    run: run.id,
  };
  return (
    <li
      className={`run-item ${dye.className}${isShown ? " sel" : ""}`}
      style={{ ...style, ...dye.style, "--depth": depth } as CSSProperties}
      aria-setsize={place.of}
      aria-posinset={place.at}
    >
      <Link
        to={to}
        data-row
        tabIndex={tabIndex}
        aria-current={isShown ? "true" : undefined}
        onFocus={onFocus}
      >
        <span className="run-line">
          <RunMark run={run} />
          <span className="label num">Run {run.number}</span>
          <span className="tick" />
          <span className="cut ink-2">{agentName(agent, run.agent_id)}</span>
          <span className="grow" />
          <span className="num ink-2">{tokensOf(run)}</span>
        </span>
        <span className="run-line small ink-3">
          <Origin of={run.origin} delegated={depth > 0} />
          <span className="cut">{factsOf(run)}</span>
          <span className="grow" />
          <span className="num">
            <Took run={run} />
          </span>
        </span>
      </Link>
    </li>
  );
}

const MARKS: Readonly<Partial<Record<Run["status"], Mark>>> = {
  running: "running",
  waiting: "waiting",
  queued: "queued",
  failed: "failed",
  interrupted: "failed",
};

/** A shape of its own for each state; one that ended well needs none. */
function RunMark({ run }: { readonly run: Run }) {
  const mark = MARKS[run.status];
  return mark ? <StateMark mark={mark} /> : <span className="st" />;
}

function Origin({ of, delegated }: { readonly of: RunOrigin | undefined; readonly delegated: boolean }) {
  const asker = useAgent(of?.agent_id);
  if (!of) return null;
  const name = agentName(asker, of.agent_id);
  const returned = of.kind === "returned";
  const words = returned ? `result from ${name}` : delegated ? `asked by ${name}` : `delegated by ${name}`;
  return (
    <span className="row-x origin">
      <Icon of={returned ? CornerUpLeft : CornerDownRight} size={12} />
      {words},
    </span>
  );
}

function factsOf(run: Run): string {
  const parts = [
    run.error?.message ??
      (run.status === "cancelled" || run.status === "interrupted" ? run.status : undefined),
    run.model,
    run.steps > 1 ? counted(run.steps, "step") : undefined,
    when(run.created_at),
  ];
  return parts.filter(Boolean).join(", ");
}

function tokensOf({ usage }: Run): string {
  return usage ? `${count(usage.input)} in, ${count(usage.output)} out` : "";
}

/** How long it took, or has so far. */
function Took({ run }: { readonly run: Run }) {
  const runs = isUnderWay(run) && run.started_at !== undefined;
  const now = useNow(runs);
  if (run.started_at === undefined) return null;
  if (run.ended_at !== undefined) return <>{seconds(run.ended_at - run.started_at)}</>;
  return <>{elapsed(now - run.started_at * 1000)}</>;
}

/** Times of runs are whole seconds: nothing finer is said of them. */
function seconds(took: number): string {
  if (took < 1) return "under 1 s";
  return took < 30 ? `${took} s` : elapsed(took * 1000);
}

function useNow(runs: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [runs]);
  return now;
}

function useStays(): boolean {
  const [stays, setStays] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setStays(true), STAYS_MS);
    return () => clearTimeout(timer);
  }, []);
  return stays;
}
