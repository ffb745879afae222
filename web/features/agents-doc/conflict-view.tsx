import { GitCompare, TriangleAlert } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSize } from "../../shell/size.js";
import { agentName, useAgents } from "../../state/agents.js";
import { useCommands } from "../../state/commands.js";
import { Button } from "../../ui/button.js";
import { when } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { placeIn, useWritingOn } from "./conflict-focus.js";
import { ConflictRegion } from "./conflict-region.js";
import { Crumbs } from "./crumbs.js";
import { decide, takeTheirs } from "./doc-actions.js";
import type { DocSession } from "./doc-session.js";
import type { Choices, DocState, Stored } from "./doc-state.js";
import type { DocRoute } from "./history.js";
import { mergedByThemselves, mergedText, regionsOf, undecided } from "./merge.js";
import { byWhom, inWords } from "./words.js";
import "./conflict.css";

const NO_CHOICES: Choices = {};
const COLUMNS = ["mine", "merged", "theirs"] as const;
type Column = (typeof COLUMNS)[number];
const NAMES = { mine: "Mine", merged: "Merged", theirs: "Theirs" };

type Conflict = DocState & { readonly theirs: Stored };

interface ConflictViewProps {
  readonly session: DocSession;
  readonly state: Conflict;
  readonly route: DocRoute;
}

/** Two texts that were made from the same one: what each has, and what comes of them. */
export default function ConflictView({ session, state, route }: ConflictViewProps) {
  const { base, mine, theirs, choices = NO_CHOICES } = state;
  const regions = useMemo(
    () => regionsOf(base.content, mine, theirs.content),
    [base.content, mine, theirs.content],
  );
  const left = undecided(regions, choices);
  const size = useSize();
  const tabbed = size === "narrow" || size === "phone";
  const [column, setColumn] = useState<Column>("merged");
  const grid = useRef<HTMLDivElement>(null);
  const save = () => left === 0 && decide(session, mergedText(regions, choices), placeIn(grid.current));
  useConflictKeys(grid, save);
  useWritingOn(grid, session, regions);
  const actions = <Actions session={session} mine={mine} left={left} onSave={save} />;
  return (
    <main className="main">
      <header className="bar">
        <Crumbs {...route} />
        <span className="chip warn">
          <Icon of={GitCompare} size={12} />
          Conflict
        </span>
        {size !== "phone" && actions}
      </header>
      <Banner state={state} alone={mergedByThemselves(regions)} left={left} />
      {size === "phone" && actions}
      {tabbed && <ColumnTabs column={column} onColumn={setColumn} />}
      <section
        ref={grid}
        className="three thin-scroll"
        data-column={tabbed ? column : "all"}
        aria-label="Both texts"
        tabIndex={0}
      >
        <Heads state={state} />
        {regions.map((region) => (
          <ConflictRegion
            key={region.key}
            region={region}
            choice={choices[region.key]}
            onChoose={(choice) => session.choose(region.key, choice)}
          />
        ))}
        <div className="tri tri-end" aria-hidden="true">
          <div className="mine" />
          <div className="mid" />
          <div className="theirs" />
        </div>
      </section>
    </main>
  );
}

interface ActionsProps {
  readonly session: DocSession;
  readonly mine: string;
  readonly left: number;
  onSave(): void;
}

function Actions({ session, mine, left, onSave }: ActionsProps) {
  const off =
    left === 0 ? undefined : left === 1 ? "One overlap is left" : `${inWords(left)} overlaps are left`;
  return (
    <div className="conflict-do">
      <Button onClick={() => decide(session, mine)}>Keep mine</Button>
      <Button onClick={() => takeTheirs(session)}>Take theirs</Button>
      <Button kind="primary" keys="mod+s" off={off} onClick={onSave}>
        Save merged
      </Button>
    </div>
  );
}

interface BannerProps {
  readonly state: Conflict;
  readonly alone: number;
  readonly left: number;
}

function Banner({ state: { base, theirs }, alone, left }: BannerProps) {
  const merged =
    alone === 0
      ? ""
      : alone === 1
        ? "One change merged by itself, "
        : `${inWords(alone)} changes merged by themselves, `;
  const needs =
    left === 0
      ? "nothing is left to decide."
      : left === 1
        ? "one needs you."
        : `${inWords(left).toLowerCase()} need you.`;
  const sentence = `${merged}${needs}`;
  return (
    <div className="banner warn-b" role="alert">
      <Icon of={TriangleAlert} />
      <p className="grow">
        <b className="strong">
          v{theirs.version} was saved elsewhere while you were{" "}
          {base.version > 0 ? `editing v${base.version}` : "writing the first version"}.
        </b>{" "}
        <span className="ink-2">
          Autosave is paused and your text is kept. {sentence.charAt(0).toUpperCase() + sentence.slice(1)}
        </span>
      </p>
    </div>
  );
}

interface ColumnTabsProps {
  readonly column: Column;
  onColumn(column: Column): void;
}

function ColumnTabs({ column, onColumn }: ColumnTabsProps) {
  return (
    <fieldset className="seg three-tabs">
      <legend className="sr">Text to show</legend>
      {COLUMNS.map((each) => (
        <button key={each} type="button" aria-pressed={each === column} onClick={() => onColumn(each)}>
          {NAMES[each]}
        </button>
      ))}
    </fieldset>
  );
}

function Heads({ state: { base, theirs } }: { readonly state: Conflict }) {
  const { byId } = useAgents();
  const who = byWhom(theirs.by, (agent) => agentName(byId.get(agent), agent));
  const saved = theirs.at === undefined ? "" : `, saved ${when(theirs.at)}`;
  return (
    <div className="tri tri-head">
      <div className="mine">
        <h2>Mine</h2>
        <span className="small ink-3 cut">
          {base.version > 0 ? `edited from v${base.version}, not saved` : "not saved"}
        </span>
      </div>
      <div className="mid">
        <h2>Merged</h2>
        <span className="small ink-3 cut">edit it here; becomes v{theirs.version + 1} when saved</span>
      </div>
      <div className="theirs">
        <h2>Theirs</h2>
        <span className="small ink-3 cut">
          v{theirs.version}
          {saved}
          {who && ` ${who}`}
        </span>
      </div>
    </div>
  );
}

function useConflictKeys(grid: React.RefObject<HTMLElement | null>, save: () => void): void {
  const latest = useRef(save);
  useEffect(() => {
    latest.current = save;
  });
  useCommands(
    useMemo(() => {
      const go = (step: 1 | -1) => () => focusDifference(grid.current, step);
      const where = "anywhere" as const;
      return [
        { id: "next-difference", title: "Go to the next difference", keys: "f7", where, run: go(1) },
        {
          id: "previous-difference",
          title: "Go to the previous difference",
          keys: "shift+f7",
          where,
          run: go(-1),
        },
        { id: "save-merged", title: "Save merged", keys: "mod+s", where, run: () => latest.current() },
      ];
    }, [grid]),
  );
}

/** The next difference after the one that has the focus; after the last comes the first. */
function focusDifference(grid: HTMLElement | null, step: 1 | -1): void {
  const places = [...(grid?.querySelectorAll<HTMLElement>("[data-difference]") ?? [])];
  const at = places.findIndex((place) => place.contains(document.activeElement));
  const next = at < 0 && step < 0 ? places.at(-1) : places[(at + step + places.length) % places.length];
  next?.scrollIntoView({ block: "center" });
  next?.querySelector<HTMLElement>("button, textarea")?.focus({ preventScroll: true });
}
