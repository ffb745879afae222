import { useEffect, useState } from "react";
import { useTree } from "../../state/tree.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { focusSoon } from "../../ui/focus-soon.js";
import { count, counted } from "../../ui/format.js";
import { lostIn, summaryOf, toldIn } from "./summary.js";
import { type Phase, type Progress, type Source, type Taken, useImport } from "./use-import.js";
import { Where } from "./where.js";
import "./import.css";

interface ImportDialogProps {
  onClose(): void;
}

/** Sessions of other tools: what was found, which of them to take, how far it is, and what became of them. */
export default function ImportDialog({ onClose }: ImportDialogProps) {
  const ws = useTree((tree) => tree.ws);
  return (
    <Dialog label="Import sessions" className="sheet imp" onClose={onClose}>
      <h2 className="strong">Import sessions</h2>
      {ws && <Steps ws={ws} onClose={onClose} />}
    </Dialog>
  );
}

function Steps({ ws, onClose }: ImportDialogProps & { readonly ws: string }) {
  const { phase, begin } = useImport(ws);
  // What was pressed or had the focus goes with each step.
  useEffect(() => {
    if (phase.at === "choosing" || phase.at === "done")
      focusSoon(() => document.querySelector<HTMLElement>("dialog.imp .btn.primary"));
  }, [phase.at]);
  if (phase.at === "choosing" && phase.sources.length > 0)
    return <Choice sources={phase.sources} onBegin={begin} onClose={onClose} />;
  return (
    <>
      <Told phase={phase} onClose={onClose} />
      <div className="btns end">
        <Button kind={phase.at === "done" ? "primary" : "plain"} onClick={onClose}>
          {phase.at === "importing" ? "Stop" : "Close"}
        </Button>
      </div>
    </>
  );
}

function Told({ phase, onClose }: ImportDialogProps & { readonly phase: Phase }) {
  if (phase.at === "looking") return <p role="status">Looking for sessions…</p>;
  if (phase.at === "importing") return <Importing progress={phase.progress} />;
  if (phase.at === "done")
    return <Summary taken={phase.taken} problem={phase.problem?.message} onClose={onClose} />;
  if (phase.at === "failed")
    return (
      <p role="alert" className="imp-problem">
        {phase.problem.message}
      </p>
    );
  return (
    <p className="ink-2">
      No sessions of Claude Code, Codex, pi or OpenCode were found on the machine Heddle runs on.
    </p>
  );
}

interface ChoiceProps extends ImportDialogProps {
  readonly sources: readonly Source[];
  onBegin(chosen: readonly Source[], all: boolean): void;
}

function Choice({ sources, onBegin, onClose }: ChoiceProps) {
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const here = sources.some(({ threads }) => threads > 0);
  const elsewhere = sources.reduce((sum, source) => sum + source.elsewhere, 0);
  const [all, setAll] = useState(!here);
  const chosen = sources.filter(({ tool, threads }) => !left.has(tool) && (all || threads > 0));
  const toggle = (tool: string) => {
    const next = new Set(left);
    if (!next.delete(tool)) next.add(tool);
    setLeft(next);
  };
  const total = chosen.reduce((sum, source) => sum + source.threads + (all ? source.elsewhere : 0), 0);
  return (
    <>
      <p className="ink-2">
        They become threads. The originals stay, and what is new comes with the next import.
      </p>
      <ul className="imp-list" aria-label="Found on this machine">
        {sources.map((source) => (
          <li key={source.tool}>
            <label className="imp-row">
              <input type="checkbox" checked={!left.has(source.tool)} onChange={() => toggle(source.tool)} />
              <span className="grow">
                <b className="label">{source.name}</b>
                <span className="small ink-3 imp-counts">{countsOf(source)}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
      {elsewhere > 0 && (
        <label className="imp-row imp-all">
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} />
          <span>
            Sessions of other directories too, each into its own workspace
            <span className="small ink-3 imp-counts">{counted(elsewhere, "session")}</span>
          </span>
        </label>
      )}
      <div className="btns end">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          off={total === 0 ? "Nothing is chosen." : undefined}
          onClick={() => onBegin(chosen, all)}
        >
          {total === 0 ? "Import" : `Import ${counted(total, "session")}`}
        </Button>
      </div>
    </>
  );
}

function countsOf({ threads, imported, elsewhere }: Source): string {
  const here = `${counted(threads, "session")} of this workspace`;
  const known = imported > 0 ? `, ${count(imported)} imported before` : "";
  return `${here}${known}${elsewhere > 0 ? `, ${count(elsewhere)} of other directories` : ""}`;
}

function Importing({ progress }: { readonly progress: Progress | undefined }) {
  const { name = "", done = 0, total = 0, title = "" } = progress ?? {};
  return (
    <>
      <p role="status">{`${name}: ${count(done)} of ${counted(total, "session")}`}</p>
      <progress
        className="imp-progress"
        max={Math.max(1, total)}
        value={done}
        aria-label="Sessions imported"
      />
      <p className="small ink-3 imp-title">{title}</p>
    </>
  );
}

const SHOWN = 50;

interface SummaryProps extends ImportDialogProps {
  readonly taken: Taken;
  readonly problem: string | undefined;
}

function Summary({ taken, problem, onClose }: SummaryProps) {
  const told = toldIn(taken);
  const lost = lostIn(taken);
  return (
    <div className="imp-summary thin-scroll">
      {problem && (
        <p role="alert" className="imp-problem">
          {problem}
        </p>
      )}
      <p role="status">{summaryOf(taken)}</p>
      <Where taken={taken} onLeave={onClose} />
      {told.length > 0 && (
        <ul className="imp-told" aria-label="Left alone or apart">
          {told.slice(0, SHOWN).map(({ key, title, reason }) => (
            <li key={key}>
              <b className="label">{title}</b> <span className="ink-2">{reason}</span>
            </li>
          ))}
        </ul>
      )}
      {lost.length > 0 && (
        <details>
          <summary>Not carried over</summary>
          <ul className="imp-told small ink-2">
            {lost.map(({ what, count: many }) => (
              <li key={what}>{`${count(many)} × ${what}`}</li>
            ))}
          </ul>
        </details>
      )}
      {taken.notRead.length > 0 && (
        <details>
          <summary>{`Not read: ${counted(taken.notRead.length, "file")}`}</summary>
          <ul className="imp-told small ink-2">
            {taken.notRead.slice(0, SHOWN).map(({ path, reason }) => (
              <li key={path}>
                <code>{path}</code> {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
