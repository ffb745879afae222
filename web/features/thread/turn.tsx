import { Unplug } from "lucide-react";
import { memo, useMemo } from "react";
import type { Run, RunApproval } from "../../../src/protocol/index.js";
import { agentName, dyeOf, useAgent } from "../../state/agents.js";
import { useLink } from "../../state/gateway.js";
import { useLiveParts } from "../../state/live.js";
import { isUnderWay } from "../../state/runs.js";
import { useThread } from "../../state/tree.js";
import { clockTime } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { Markdown } from "../../ui/markdown/markdown.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { ApprovalCard } from "./approval-card.js";
import { Branch } from "./branch.js";
import { approvalKey } from "./decisions.js";
import { delegationOf, isDelegation } from "./delegation.js";
import { Ending } from "./ending.js";
import { AssetImage } from "./image.js";
import type { Item } from "./items.js";
import { useKnownRun } from "./known-run.js";
import { LongText } from "./long-text.js";
import { type Part, partsOfLive, partsOfMessage } from "./parts.js";
import { contextRoute, usePlace, useShowContext } from "./place.js";
import { useReading } from "./reading.js";
import { Thinking } from "./thinking.js";
import { ToolCall } from "./tool-call.js";

type TurnItem = Extract<Item, { kind: "turn" | "run" }>;

/** An agent's turn on its thread line. The same component while it is said and when it is written: nothing moves between. */
export const Turn = memo(function Turn({ item }: { readonly item: TurnItem }) {
  const { ws, thread } = usePlace();
  const known = useKnownRun(ws, item.kind === "turn" ? item.message.run_id : undefined);
  const run = item.kind === "run" ? item.run : known;
  const parts = useParts(item);
  const agentId = useThread(thread)?.agent_id;
  const id = run?.agent_id ?? agentId ?? "";
  const agent = useAgent(id);
  const { className, style } = dyeOf(agent, id);
  const live = item.kind === "run" && (run?.status === "running" || run?.status === "waiting");
  const tab = useReading(({ current }) => (current === item.key ? 0 : -1));
  return (
    <div className={`turn${live ? " live" : ""} ${className}`} style={style}>
      <Head item={item} run={run} name={agentName(agent, id)} tab={tab} />
      <Parts item={item.key} parts={parts} run={run} live={live} tab={tab} />
      {live && <Stale />}
      <Ending item={item} run={run} />
    </div>
  );
});

function useParts(item: TurnItem): readonly Part[] {
  const live = useLiveParts(item.kind === "run" ? item.run.id : undefined);
  const running = item.kind === "run" && item.run.status === "running";
  return useMemo(
    () => (item.kind === "run" ? partsOfLive(live, running) : partsOfMessage(item.message)),
    [item, live, running],
  );
}

interface HeadProps {
  readonly item: TurnItem;
  readonly run: Run | undefined;
  readonly name: string;
  readonly tab: number;
}

function Head({ item, run, name, tab }: HeadProps) {
  const model = run?.model ?? (item.kind === "turn" ? item.message.model : undefined);
  const facts = [
    ...(typeof model === "string" ? [visibleExactly(model)] : []),
    ...(run && knowsStep(item, run) && run.steps > 1 ? [`step ${run.steps}`] : []),
  ];
  return (
    <div className="turn-head">
      <span className="eye" />
      <span className="ag cut">{visibleExactly(name)}</span>
      <span className="small ink-3 cut num">{facts.join(", ")}</span>
      <span className="grow" />
      {run && <RunLink run={run} tab={tab} />}
    </div>
  );
}

/** Of an earlier message of a run, before it was steered, nobody noted the step. */
function knowsStep(item: TurnItem, run: Run): boolean {
  return item.kind === "run" || (item.isLast && !isUnderWay(run));
}

/** A message that was copied into a fork leads to its run in the thread where that took place, and says so. */
function RunLink({ run, tab }: { readonly run: Run; readonly tab: number }) {
  const { ws, thread } = usePlace();
  const showContext = useShowContext();
  const title = useThread(run.thread_id)?.title;
  const elsewhere = run.thread_id === thread ? "" : ` of ${visibleExactly(title || "another thread")}`;
  return (
    <Link
      className="small lone num"
      to={contextRoute({ ws, thread: run.thread_id }, run.id)}
      tabIndex={tab}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        void showContext(run.id);
      }}
    >
      <span className="cut">
        Run {run.number}
        {elsewhere}
      </span>
    </Link>
  );
}

interface PartsProps {
  readonly item: string;
  readonly parts: readonly Part[];
  readonly run: Run | undefined;
  readonly live: boolean;
  readonly tab: number;
}

function Parts({ item, parts, run, live, tab }: PartsProps) {
  const approvals = run?.approvals ?? [];
  const own = new Map(
    approvals.filter(({ run_id }) => run_id === run?.id).map((one) => [one.tool_call_id, one]),
  );
  const nth = new Map<string, number>();
  const placed = new Set<string>();
  const shown = parts.map((part) => {
    if (part.kind !== "call") return <PartOf key={part.key} item={item} part={part} tab={tab} />;
    const given = { call: part.call, rowKey: `${item} ${part.key}`, run: run?.id, tab };
    const approval = own.get(part.call.id);
    if (approval) placed.add(approvalKey(approval));
    if (!isDelegation(part.call)) return <ToolCall key={part.key} {...given} approval={approval} />;
    const { agent } = delegationOf(part.call);
    const before = nth.get(agent) ?? 0;
    nth.set(agent, before + 1);
    for (const one of approvals) if (one.run_id !== run?.id) placed.add(approvalKey(one));
    return <Branch key={part.key} {...given} nth={before} approval={approval} />;
  });
  return (
    <>
      {shown}
      {live && parts.length === 0 && approvals.length === 0 && (
        <div className="read said">
          <span className="caret" />
        </div>
      )}
      {approvals.filter((one) => !placed.has(approvalKey(one))).map(cardOf)}
    </>
  );
}

function cardOf(approval: RunApproval) {
  return <ApprovalCard key={approvalKey(approval)} approval={approval} />;
}

interface PartOfProps {
  readonly item: string;
  readonly part: Exclude<Part, { kind: "call" }>;
  readonly tab: number;
}

/** Of what is no block that this page knows. */
const OTHER_CHARS = 4_000;

const PartOf = memo(function PartOf({ item, part, tab }: PartOfProps) {
  if (part.kind === "thinking") return <Thinking part={part} rowKey={`${item} ${part.key}`} tab={tab} />;
  if (part.kind === "image") return <AssetImage asset={part.asset} mime={part.mime} />;
  if (part.kind === "other")
    return (
      <LongText text={part.text} most={OTHER_CHARS}>
        {(shown) => <pre className="out call-in">{visibleExactly(shown)}</pre>}
      </LongText>
    );
  return (
    <div className={`read said${part.open ? " open" : ""}`}>
      <Markdown text={part.text} streaming={part.open} />
    </div>
  );
}, samePart);

function samePart(before: PartOfProps, after: PartOfProps): boolean {
  const [a, b] = [before.part, after.part];
  if (before.tab !== after.tab || a.kind !== b.kind || before.item !== after.item) return false;
  if (a.kind === "text" && b.kind === "text") return a.text === b.text && a.open === b.open;
  if (a.kind === "thinking" && b.kind === "thinking")
    return a.text === b.text && a.open === b.open && a.ms === b.ms;
  return a === b;
}

/** The gateway does not answer: what is shown is as old as that. */
function Stale() {
  const { link, lostAt } = useLink();
  if (link !== "offline" || lostAt === undefined) return null;
  return (
    <p className="stale small ink-3">
      <Icon of={Unplug} size={12} />
      Shown as of {clockTime(lostAt / 1000)}. The run goes on in the gateway; what you missed appears when it
      is back.
    </p>
  );
}
