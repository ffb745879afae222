import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Run, RunSteering } from "../../../src/protocol/index.js";
import type { Unsent } from "../../state/outbox.js";
import { Icon } from "../../ui/icon.js";
import { QueuedRow } from "./queued-row.js";
import { SteeringRow } from "./steering-row.js";
import { UnsentRow } from "./unsent-row.js";

const SHOWN = 3;
const [CHOSEN, BEGUN] = ["chosen", "begun"] as const;

interface QueueProps {
  /** What the run under way will be told with its next step, oldest first. */
  readonly steering: readonly RunSteering[];
  /** What the gateway has queued, next first. */
  readonly queued: readonly Run[];
  /** What waits in this browser, oldest first. */
  readonly unsent: readonly Unsent[];
  /** The row that somebody chose to edit. */
  readonly editing: string | undefined;
  /** Rows with an edit that was begun and not ended. */
  readonly begun: readonly string[];
  onEdit(id: string | undefined): void;
}

/** What waits: for its turn, the next one nearest to the field, and below it what the run under way is told before that. */
export function Queue({ steering, queued, unsent, editing, begun, onEdit }: QueueProps) {
  const [unfolded, setUnfolded] = useState(false);
  const all = [
    ...queued.map((run, at) => ({ id: run.id, run, next: at === 0, unsent: undefined })),
    ...unsent.map((each) => ({ id: each.key, run: undefined, next: false, unsent: each })),
  ];
  if (all.length + steering.length === 0) return null;
  // What was refused asks for a decision, and what is edited has the focus: neither is folded away.
  const kept = (row: (typeof all)[number], at: number) =>
    unfolded ||
    at < SHOWN ||
    row.id === editing ||
    begun.includes(row.id) ||
    row.unsent?.problem !== undefined;
  const shown = all.filter(kept);
  const more = all.length - shown.length;
  return (
    <ul className="queue thin-scroll" aria-label="Queue">
      {(more > 0 || (unfolded && all.length > SHOWN)) && (
        <li className="fold">
          <button
            type="button"
            className="grow"
            aria-expanded={unfolded}
            onClick={() => setUnfolded(!unfolded)}
          >
            <Icon of={unfolded ? ChevronDown : ChevronRight} size={14} />
            {unfolded ? "Show fewer" : `${more} more`}
          </button>
        </li>
      )}
      {shown.toReversed().map(({ id, run, unsent: waiting, next }) => {
        const state = id === editing ? CHOSEN : begun.includes(id) ? BEGUN : undefined;
        const edit = { editing: state, onEdit: (on: boolean) => onEdit(on ? id : undefined) };
        if (waiting) return <UnsentRow key={id} unsent={waiting} {...edit} />;
        return <QueuedRow key={id} run={run as Run} next={next} {...edit} />;
      })}
      {steering.toReversed().map((said) => (
        <SteeringRow key={said.message_id} said={said} />
      ))}
    </ul>
  );
}
