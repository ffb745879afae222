import { ChevronDown, ChevronRight } from "lucide-react";
import { Icon } from "../../ui/icon.js";
import { Markdown } from "../../ui/markdown/markdown.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import type { Delegation } from "./delegation.js";
import { LongText } from "./long-text.js";
import type { Call } from "./parts.js";
import { useOpen, useReading } from "./reading.js";
import { Input } from "./tool-call.js";

interface RequestProps {
  readonly call: Call;
  readonly asked: Delegation;
  readonly rowKey: string;
}

/** What was asked, on one line; it opens for all of it. */
export function RequestButton({ call, asked, rowKey, tab }: RequestProps & { readonly tab: number }) {
  const [open, toggle] = useOpen(rowKey, false, call.input);
  return (
    <button
      type="button"
      className="asked-words small ink-3"
      aria-expanded={open}
      tabIndex={tab}
      data-row={rowKey}
      onClick={toggle}
    >
      <span className="cut">{askedWords(call, asked)}</span>
      <Icon of={open ? ChevronDown : ChevronRight} size={12} />
    </button>
  );
}

function askedWords({ status }: Call, { mode, content }: Delegation): string {
  const line = visibleExactly(content.split("\n", 1)[0] ?? "").slice(0, 300);
  if (content === "") return status === "failed" ? "could not be asked" : "is being asked";
  return mode === "async" ? `asked in the background: ${line}` : `asked: ${line}`;
}

/** All that was asked; where it can't be read as a request, what was given instead. */
export function Request({ call, asked, rowKey }: RequestProps) {
  const open = useReading((reading) => reading.open.get(rowKey) ?? false);
  if (!open) return null;
  if (asked.content === "") return <Input input={call.input} />;
  return (
    <div className="read said asked-all">
      <Markdown text={asked.content} />
    </div>
  );
}

interface ReasonProps {
  readonly asked: Delegation;
  readonly rowKey: string;
  readonly tab: number;
}

const REASON_CHARS = 4_000;

/** Why it failed. It is open by itself, as any failure. */
export function Reason({ asked, rowKey, tab }: ReasonProps) {
  const { reason } = asked;
  const [open, toggle] = useOpen(rowKey, true, reason ?? "");
  if (reason === undefined) return null;
  return (
    <>
      <button
        type="button"
        className="call bad"
        aria-expanded={open}
        tabIndex={tab}
        data-row={rowKey}
        onClick={toggle}
      >
        <span className="grow ink-2">Why</span>
        <span className="r">
          <Icon of={open ? ChevronDown : ChevronRight} size={12} />
        </span>
      </button>
      {open && (
        <LongText text={reason} most={REASON_CHARS}>
          {(shown) => <pre className="out call-in reason">{visibleExactly(shown)}</pre>}
        </LongText>
      )}
    </>
  );
}
