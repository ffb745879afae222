import { Ellipsis, History as HistoryIcon, TriangleAlert } from "lucide-react";
import { lazy, Suspense, useEffect, useMemo, useRef, useState } from "react";
import { useDrawers, usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { useCommands } from "../../state/commands.js";
import { toast } from "../../state/toasts.js";
import { docName, useTree } from "../../state/tree.js";
import { Button, IconButton } from "../../ui/button.js";
import { when } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { MenuButton } from "../../ui/menu-button.js";
import { AboutPane } from "./about-pane.js";
import { Crumbs } from "./crumbs.js";
import { decide, docMenu, startFromInherited, takeTheirs } from "./doc-actions.js";
import { DocFoot } from "./doc-foot.js";
import type { DocSession } from "./doc-session.js";
import type { DocState } from "./doc-state.js";
import type { Place } from "./editor.js";
import type { DocRoute } from "./history.js";
import { SaveState } from "./save-state.js";
import { type Inherited, useInherited } from "./use-inherited.js";
import { nameInText } from "./words.js";

const Editor = lazy(() => import("./editor.js"));

interface OpenDocProps {
  readonly session: DocSession;
  readonly state: DocState;
  readonly route: DocRoute;
  readonly restoredFrom: number | undefined;
}

export function OpenDoc({ session, state, route, restoredFrom }: OpenDocProps) {
  const { insp, toggleInsp } = usePanes();
  const inherited = useInherited(route.ws, route.folder);
  const label = useTree((tree) => docName(tree, route.folder));
  const [place, setPlace] = useState<Place>();
  useSaveKey(session);
  useVersionInAddress(route.version);
  useEffect(() => {
    if (restoredFrom === undefined) return;
    toast(`Unsaved text from ${when(restoredFrom / 1000)} is back.`);
    session.toldOfRestored();
  }, [session, restoredFrom]);
  return (
    <div className="docview" data-about={insp}>
      <main className="main">
        <header className="bar">
          <Crumbs {...route} />
          <SaveState session={session} state={state} />
          <span className="vr only-wide" />
          <HistoryButton on={insp} onToggle={toggleInsp} />
          <MenuButton className="ib" label="More" items={() => docMenu(session, inherited)}>
            <Icon of={Ellipsis} />
          </MenuButton>
        </header>
        {state.theirs && <DeletedElsewhere session={session} state={state} name={label} />}
        <EmptyNote session={session} state={state} inherited={inherited} />
        <Suspense fallback={<div className="ed" aria-busy="true" />}>
          <Editor session={session} label={label} instead={inherited?.content ?? ""} onPlace={setPlace} />
        </Suspense>
        <DocFoot text={state.mine} place={place} />
      </main>
      {insp && (
        <AboutPane session={session} state={state} route={route} inherited={inherited} onClose={toggleInsp} />
      )}
    </div>
  );
}

function HistoryButton({ on, onToggle }: { readonly on: boolean; onToggle(): void }) {
  const marks = { "aria-pressed": on, className: on ? "on" : "", onClick: onToggle };
  if (useSize() === "phone") return <IconButton icon={HistoryIcon} label="History" {...marks} />;
  return (
    <Button kind="quiet" icon={HistoryIcon} {...marks}>
      History
    </Button>
  );
}

function useSaveKey(session: DocSession): void {
  useCommands(
    useMemo(
      () => [
        {
          id: "save-agents-md",
          title: "Save AGENTS.md now",
          keys: "mod+s",
          where: "anywhere" as const,
          run: () => void session.save("manual"),
        },
      ],
      [session],
    ),
  );
}

/** An address that names a version is about the history: it opens with it. */
function useVersionInAddress(version: number | undefined): void {
  const { insp, toggleInsp } = usePanes();
  const opened = useRef<number>(undefined);
  useEffect(() => {
    if (version !== undefined && opened.current === undefined && !insp) toggleInsp();
    opened.current = version;
  }, [version, insp, toggleInsp]);
  useEffect(() => () => useDrawers.setState({ open: undefined }), []);
}

interface EmptyNoteProps {
  readonly session: DocSession;
  readonly state: DocState;
  readonly inherited: Inherited | undefined;
}

/** Says what applies while this document has no text. */
function EmptyNote({ session, state, inherited }: EmptyNoteProps) {
  const name = useTree((tree) => inherited && nameInText(tree, inherited.doc));
  if (state.mine.trim() !== "") return null;
  return (
    <div className="ed-empty">
      <p className="grow">
        {name
          ? `Empty, so ${name} applies.`
          : "Empty, so no standing instructions apply here. Write the first ones."}
      </p>
      {inherited?.content && (
        <Button small onClick={() => startFromInherited(session, inherited)}>
          Start from the inherited text
        </Button>
      )}
    </div>
  );
}

interface DeletedElsewhereProps {
  readonly session: DocSession;
  readonly state: DocState;
  readonly name: string;
}

function DeletedElsewhere({ session, state, name }: DeletedElsewhereProps) {
  return (
    <div className="banner warn-b" role="alert">
      <Icon of={TriangleAlert} />
      <p className="grow">
        <b className="strong">
          {name} was deleted elsewhere while you were editing v{state.base.version}.
        </b>{" "}
        <span className="ink-2">Autosave is paused and your text is kept.</span>
      </p>
      <Button onClick={() => decide(session, state.mine)}>Keep mine</Button>
      <Button onClick={() => takeTheirs(session)}>Take theirs</Button>
    </div>
  );
}
