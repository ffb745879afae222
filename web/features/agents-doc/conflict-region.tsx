import { memo } from "react";
import { Button } from "../../ui/button.js";
import { StateMark } from "../../ui/state-mark.js";
import type { Choice } from "./doc-state.js";
import { hangStyle } from "./hang.js";
import { mergedLines, type Region } from "./merge.js";

interface ConflictRegionProps {
  readonly region: Region;
  readonly choice: Choice | undefined;
  onChoose(choice: Choice | undefined): void;
}

/** One stretch of the three texts, beside each other. They begin at the same height, and end there, too. */
export const ConflictRegion = memo(
  function ConflictRegion({ region, choice, onChoose }: ConflictRegionProps) {
    const { kind, mine, theirs } = region;
    const isOverlap = kind === "overlap";
    const byMine = kind === "mine" || isOverlap ? "m" : "";
    const byTheirs = kind === "theirs" || isOverlap ? "t" : "";
    return (
      <div className="tri-group" data-difference={kind === "same" ? undefined : ""}>
        {isOverlap && <Hunk choice={choice} onChoose={onChoose} />}
        <div className="tri">
          <div className="mine ln">
            <Lines lines={mine} by={byMine} />
          </div>
          <MergedCell region={region} choice={choice} onChoose={onChoose} />
          <div className="theirs ln">
            <Lines lines={theirs} by={byTheirs} />
          </div>
        </div>
      </div>
    );
  },
  // How to choose is the same for the same region; only what was chosen differs.
  (before, after) => before.region === after.region && before.choice === after.choice,
);

function Lines({ lines, by }: { readonly lines: readonly string[]; readonly by: string }) {
  return (
    <>
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else to be told by
        <Line key={at} line={line} by={by} />
      ))}
      <div className="void" />
    </>
  );
}

function Line({ line, by }: { readonly line: string; readonly by: string }) {
  const kind = /^#{1,6} /.test(line) ? "hd" : "hang";
  return (
    <p className={`${by} ${kind}`} style={hangStyle(line)}>
      {line || "\u200b"}
    </p>
  );
}

interface HunkProps {
  readonly choice: Choice | undefined;
  onChoose(choice: Choice | undefined): void;
}

const SIDES = ["mine", "theirs", "both"] as const;
const WORDS = { mine: "Mine", theirs: "Theirs", both: "Both" };

function Hunk({ choice, onChoose }: HunkProps) {
  return (
    <div className="tri tri-hunk">
      <div className="mine" />
      <fieldset className="mid hunk">
        <legend className="sr">Both changed this</legend>
        {choice === undefined && <StateMark mark="waiting" silent />}
        <span className="grow cut">{said(choice)}</span>
        {SIDES.map((side) => (
          <Button
            key={side}
            small
            className={`take-${side}${choice === side ? " on" : ""}`}
            aria-pressed={choice === side}
            onClick={() => onChoose(choice === side ? undefined : side)}
          >
            {WORDS[side]}
          </Button>
        ))}
      </fieldset>
      <div className="theirs" />
    </div>
  );
}

function said(choice: Choice | undefined): string {
  if (choice === undefined) return "Both changed this";
  if (typeof choice === "object") return "Written by hand";
  return choice === "both" ? "Both taken" : `${WORDS[choice]} taken`;
}

/** What comes of a stretch. It can be written in: then what is written counts. */
function MergedCell({ region, choice, onChoose }: ConflictRegionProps) {
  const lines = mergedLines(region, choice);
  const text = typeof choice === "object" ? choice.text : lines.map(({ line }) => line).join("\n");
  const classes = { mine: "m", theirs: "t" };
  return (
    <div className="mid ln merged">
      <div className="merged-shown" aria-hidden="true">
        {lines.map(({ line, by }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else to be told by
          <Line key={at} line={line} by={by ? classes[by] : ""} />
        ))}
      </div>
      <textarea
        aria-label={region.kind === "same" ? "Merged text, unchanged part" : "Merged text, changed part"}
        spellCheck={false}
        value={text}
        rows={1}
        onChange={(event) => onChoose({ text: event.target.value })}
      />
      <div className="void" />
    </div>
  );
}
