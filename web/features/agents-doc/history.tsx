import { RotateCcw } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import type { AgentsDocRevision } from "../../../src/protocol/index.js";
import { agentName, useAgents } from "../../state/agents.js";
import { useCommands } from "../../state/commands.js";
import { navigate, type Route } from "../../state/router.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { count, when } from "../../ui/format.js";
import { countChanges, differenceOf } from "./diff-rows.js";
import { DiffView } from "./diff-view.js";
import type { DocSession } from "./doc-session.js";
import { useRevisions, useRevisionText } from "./use-revisions.js";
import { byWhom } from "./words.js";

export type DocRoute = Extract<Route, { view: "doc" }>;

interface HistoryProps {
  readonly session: DocSession;
  readonly route: DocRoute;
  /** The version that stands there now; 0: none. */
  readonly present: number;
}

/** Every version of this scope's document: what changed in it, and the way back to it. */
export function History({ session, route, present }: HistoryProps) {
  const { list, error, hasMore, more, again } = useRevisions(route.ws, route.folder);
  const [picked, setPicked] = useState<AgentsDocRevision>();
  useEffect(() => {
    // An address may name a version of a page that was not read yet.
    const isNamed = route.version === undefined || list?.some(({ version }) => version === route.version);
    if (!isNamed && hasMore) more();
  });
  const selected = selectedOf(list ?? [], picked, route.version);
  const select = (revision: AgentsDocRevision) => {
    setPicked(revision);
    navigate({ ...route, version: revision.version }, { replace: true });
  };
  return (
    <section className="blk blk-history" aria-labelledby="history">
      <div className="blk-h">
        <h2 id="history" className="label">
          History
        </h2>
      </div>
      {error && !list && (
        <p className="small">
          Could not read the history.{" "}
          <Button small onClick={again}>
            Try again
          </Button>
        </p>
      )}
      {list?.length === 0 && <p className="small ink-3">Nothing was saved here yet.</p>}
      {list && list.length > 0 && (
        <Revisions ws={route.ws} list={list} selected={selected} onSelect={select} />
      )}
      {hasMore && (
        <button type="button" className="more-link small" onClick={more}>
          Show older
        </button>
      )}
      {list && route.version !== undefined && selected?.version !== route.version && !hasMore && (
        <p className="small ink-3">There is no v{count(route.version)} here.</p>
      )}
      {list && selected && <Compared session={session} list={list} selected={selected} present={present} />}
    </section>
  );
}

function selectedOf(
  list: readonly AgentsDocRevision[],
  picked: AgentsDocRevision | undefined,
  version: number | undefined,
): AgentsDocRevision | undefined {
  if (version === undefined) return list[0];
  const same = list.find((each) => each.doc_id === picked?.doc_id && each.version === version);
  return same ?? list.find((each) => each.version === version);
}

interface RevisionsProps {
  readonly ws: string;
  readonly list: readonly AgentsDocRevision[];
  readonly selected: AgentsDocRevision | undefined;
  onSelect(revision: AgentsDocRevision): void;
}

function Revisions({ ws, list, selected, onSelect }: RevisionsProps) {
  const id = useId();
  const at = selected ? list.indexOf(selected) : -1;
  const optionId = (index: number) => `${id}${index}`;
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      Home: 0,
      End: list.length - 1,
    };
    const to = list[steps[event.key] ?? -1];
    if (steps[event.key] === undefined) return;
    event.preventDefault();
    if (!to) return;
    onSelect(to);
    document.getElementById(optionId(list.indexOf(to)))?.scrollIntoView({ block: "nearest" });
  };
  return (
    <div
      className="revs thin-scroll"
      role="listbox"
      aria-label="Versions"
      tabIndex={0}
      aria-activedescendant={at >= 0 ? optionId(at) : undefined}
      onKeyDown={move}
    >
      {list.map((revision, index) => (
        <RevisionRow
          key={`${revision.doc_id} ${revision.version}`}
          id={optionId(index)}
          ws={ws}
          list={list}
          index={index}
          selected={revision === selected}
          onSelect={() => onSelect(revision)}
        />
      ))}
    </div>
  );
}

interface RevisionRowProps {
  readonly id: string;
  readonly ws: string;
  readonly list: readonly AgentsDocRevision[];
  readonly index: number;
  readonly selected: boolean;
  onSelect(): void;
}

function RevisionRow({ id, ws, list, index, selected, onSelect }: RevisionRowProps) {
  const revision = list[index] as AgentsDocRevision;
  const { byId } = useAgents();
  const after = useRevisionText(ws, revision);
  const before = useRevisionText(ws, beforeOf(list, index));
  const changes = useMemo(
    () => (before === undefined || after === undefined ? undefined : countChanges(before, after)),
    [before, after],
  );
  const who = byWhom(revision.saved_by, (agent) => agentName(byId.get(agent), agent));
  return (
    <div
      id={id}
      role="option"
      aria-selected={selected}
      className={`rev${selected ? " sel" : ""}`}
      title={`${count(revision.char_count)} characters`}
      onClick={onSelect}
    >
      <span className="rev-v">v{revision.version}</span>
      <span className="cut">
        {when(revision.saved_at)}, {reasonOf(list, index)}
        {who && ` ${who}`}
      </span>
      <span className="ink-3 rev-n">{count(revision.char_count)}</span>
      <span className="plus">{changes && `+${count(changes.added)}`}</span>
      <span className="minus">{changes && `−${count(changes.gone)}`}</span>
    </div>
  );
}

/** What a version was made from: the one before it, of the same document. */
function beforeOf(list: readonly AgentsDocRevision[], index: number): AgentsDocRevision | undefined {
  const before = list[index + 1];
  return before && before.doc_id === list[index]?.doc_id ? before : undefined;
}

function reasonOf(list: readonly AgentsDocRevision[], index: number): string {
  const revision = list[index] as AgentsDocRevision;
  const { reason, version, content_sha256 } = revision;
  if (reason === "archive") return "deleted";
  if (reason === "restore") {
    const from = list.slice(index + 1).find((each) => each.content_sha256 === content_sha256);
    return from ? `restored from v${from.version}` : "restored";
  }
  if (version === 1) return "created";
  return reason === "autosave" ? "autosave" : "saved";
}

interface ComparedProps {
  readonly session: DocSession;
  readonly list: readonly AgentsDocRevision[];
  readonly selected: AgentsDocRevision;
  readonly present: number;
}

function Compared({ session, list, selected, present }: ComparedProps) {
  const [against, setAgainst] = useState<"before" | "present">("before");
  const [whole, setWhole] = useState(false);
  const newest = list[0] as AgentsDocRevision;
  const isNewest = selected === newest;
  const toPresent = against === "present" && !isNewest;
  const older = toPresent ? selected : beforeOf(list, list.indexOf(selected));
  const newer = toPresent ? newest : selected;
  const before = useRevisionText(session.ws, older);
  const after = useRevisionText(session.ws, newer);
  const difference = useMemo(
    () => (before === undefined || after === undefined ? undefined : differenceOf(before, after, whole)),
    [before, after, whole],
  );
  const isPresent = isNewest && present > 0;
  const back = isPresent ? older : selected;
  const box = useRef<HTMLDivElement>(null);
  useDifferenceKeys(box);
  return (
    <>
      <div className="cmp-h" hidden={list.length === 1}>
        <fieldset className="seg">
          <legend className="sr">Compare with</legend>
          <button type="button" aria-pressed={!toPresent} onClick={() => setAgainst("before")}>
            With the one before
          </button>
          <button
            type="button"
            aria-pressed={toPresent}
            disabled={isNewest}
            title={isNewest ? "This is the newest version" : undefined}
            onClick={() => setAgainst("present")}
          >
            With the newest
          </button>
        </fieldset>
        <span className="grow" />
        <span className="small ink-3 num cmp-of">
          {older ? `v${newer.version} against v${older.version}` : `v${newer.version}, the first`}
        </span>
      </div>
      <div ref={box}>{difference && <DiffView difference={difference} />}</div>
      <div className="btns cmp-do">
        {back && (
          <Button small icon={RotateCcw} onClick={() => void restore(session, back)}>
            Restore v{back.version}
          </Button>
        )}
        <Button small aria-pressed={whole} className={whole ? "on" : ""} onClick={() => setWhole(!whole)}>
          Full difference
        </Button>
      </div>
    </>
  );
}

async function restore(session: DocSession, { doc_id, version }: AgentsDocRevision): Promise<void> {
  try {
    const { before, after } = await session.restore(doc_id, version);
    if (before.id === after.id && before.version === after.version) return;
    toastUndo(`Restored v${version} as v${after.version}`, async () => {
      if (before.id === undefined) await session.remove();
      else await session.restore(before.id, before.version);
    });
  } catch (error) {
    toastProblem(error);
  }
}

/** F7 and Shift F7 go through the differences that are shown. */
function useDifferenceKeys(box: React.RefObject<HTMLElement | null>): void {
  const at = useRef(-1);
  useCommands(
    useMemo(() => {
      const go = (step: 1 | -1) => () => {
        const places = [...(box.current?.querySelectorAll<HTMLElement>("[data-difference]") ?? [])];
        if (places.length === 0) return;
        at.current = (at.current + step + places.length) % places.length;
        for (const place of places) place.classList.toggle("at", place === places[at.current]);
        places[at.current]?.scrollIntoView({ block: "nearest" });
      };
      return [
        { id: "next-difference", title: "Go to the next difference", keys: "f7", run: go(1) },
        { id: "previous-difference", title: "Go to the previous difference", keys: "shift+f7", run: go(-1) },
      ];
    }, [box]),
  );
}
