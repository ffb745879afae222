import { ChevronDown, ChevronRight } from "lucide-react";
import { duration } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { visible } from "../../ui/markdown/visible.js";
import { LongText } from "./long-text.js";
import type { Part } from "./parts.js";
import { useOpen } from "./reading.js";

interface ThinkingProps {
  readonly part: Extract<Part, { kind: "thinking" }>;
  readonly rowKey: string;
  readonly tab: number;
}

const SHOWN_CHARS = 40_000;
/** Shorter ones were told all at once: nobody knows how long they took. */
const SHORT_MS = 100;

/** Whole seconds, once there is one. */
function taken(ms: number): string {
  return duration(ms < 1_000 ? ms : Math.round(ms / 1_000) * 1_000).replace(".0 s", " s");
}

/** `Thinking` while it does, `Thought for 6 s` after; closed until somebody wants to know. */
export function Thinking({ part, rowKey, tab }: ThinkingProps) {
  const [open, toggle] = useOpen(rowKey, false, part.text);
  const words = part.open
    ? "Thinking"
    : part.ms === undefined || part.ms < SHORT_MS
      ? "Thought"
      : `Thought for ${taken(part.ms)}`;
  return (
    <>
      <button
        type="button"
        className={`call${part.open ? " open-knot" : ""}`}
        aria-expanded={open}
        tabIndex={tab}
        data-row={rowKey}
        onClick={toggle}
      >
        <span className="grow ink-2">{words}</span>
        <span className="r">
          <Icon of={open ? ChevronDown : ChevronRight} size={12} />
        </span>
      </button>
      {open && (
        <LongText text={part.text} most={SHOWN_CHARS}>
          {(shown) => <p className="think">{visible(shown)}</p>}
        </LongText>
      )}
    </>
  );
}
