import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useRef } from "react";
import type { RunApproval } from "../../../src/protocol/index.js";
import { Diff } from "../../ui/diff/diff.js";
import { duration, elapsed } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { ApprovalCard, DecidedRow } from "./approval-card.js";
import { argumentOf, iconOf, type Outcome, opensByItself, outcomeOf, prettyInput } from "./call-facts.js";
import { LongText } from "./long-text.js";
import { useNow } from "./now.js";
import { Output } from "./output.js";
import type { Call } from "./parts.js";
import { useOpen } from "./reading.js";

interface ToolCallProps {
  readonly call: Call;
  /** Names the row among all of the thread. */
  readonly rowKey: string;
  readonly run: string | undefined;
  readonly approval: RunApproval | undefined;
  readonly tab: number;
}

/** One call: a row of 28, whatever it answers; below it, once it is opened, what went in and what came out. */
export const ToolCall = memo(function ToolCall({ call, rowKey, run, approval, tab }: ToolCallProps) {
  const [open, toggle] = useOpen(rowKey, useFirstAnswer(call), `${call.input}\n${call.output}`);
  const live = call.status === "running" || call.status === "preparing" || call.status === "waiting";
  const knot = live ? " open-knot" : call.status === "failed" ? " bad" : "";
  const argument = argumentOf(call.input);
  return (
    <>
      <button
        type="button"
        className={`call${knot}`}
        aria-expanded={open}
        tabIndex={tab}
        data-row={rowKey}
        onClick={toggle}
      >
        <Icon of={iconOf(call)} size={14} />
        <span className="n cut">{call.name === "" ? "Preparing a call" : visibleExactly(call.name)}</span>
        <span className="arg" title={argument}>
          {argument}
        </span>
        <span className="r">
          <Words outcome={outcomeOf(call)} />
          <Time call={call} />
          <Icon of={open ? ChevronDown : ChevronRight} size={12} />
        </span>
      </button>
      {approval && <ApprovalCard approval={approval} />}
      {run !== undefined && !approval && <DecidedRow run_id={run} tool_call_id={call.id} />}
      {open && <Opened call={call} isAsked={approval !== undefined} />}
    </>
  );
});

/** Decided once, when the answer comes: what was shown closed does not open by itself when the message is written. */
function useFirstAnswer(call: Call): boolean {
  const first = useRef<boolean>(undefined);
  if (call.status === "completed" || call.status === "failed") first.current ??= opensByItself(call);
  return first.current ?? false;
}

function Words({ outcome }: { readonly outcome: Outcome }) {
  const { words, tone, added, removed } = outcome;
  if (added !== undefined)
    return (
      <span>
        <span className="plus">+{added}</span> <span className="minus">−{removed}</span>
      </span>
    );
  return words === "" ? null : <span className={tone ?? ""}>{words}</span>;
}

function Time({ call }: { readonly call: Call }) {
  const ticking = call.status === "running" && call.from !== undefined;
  const now = useNow(ticking);
  if (ticking) return <span className="num hide-n">{elapsed(now - (call.from ?? now))}</span>;
  return call.duration === undefined ? null : <span className="num hide-n">{duration(call.duration)}</span>;
}

function Opened({ call, isAsked }: { readonly call: Call; readonly isAsked: boolean }) {
  const showsInput = call.input !== "" && call.input !== "{}" && call.changes.length === 0 && !isAsked;
  return (
    <div className="opened">
      {showsInput && <Input input={call.input} />}
      {call.changes.map((change, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: one file can be changed twice
        <div className="well" key={at}>
          {call.changes.length > 1 && (
            <div className="well-h">
              <code className="cut">{visibleExactly(change.path)}</code>
            </div>
          )}
          <Diff {...change} />
        </div>
      ))}
      {(call.changes.length === 0 || call.status === "failed") && <Output call={call} />}
    </div>
  );
}

const INPUT_CHARS = 8_000;

/** What went in, all of it: the row shows only what matters most. */
export function Input({ input }: { readonly input: string }) {
  return (
    <LongText text={prettyInput(input)} most={INPUT_CHARS}>
      {(shown) => <pre className="out call-in">{visibleExactly(shown)}</pre>}
    </LongText>
  );
}
