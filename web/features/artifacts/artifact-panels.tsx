import { type ReactNode, useLayoutEffect, useState } from "react";
import { createPortal } from "react-dom";
import { problemOf } from "../../state/errors.js";
import { type Panel, usePanels } from "../../state/panels.js";
import { Button } from "../../ui/button.js";
import "./artifacts.css";
import "./dialogs.css";
import { createArtifact, ICONS, openNamed } from "./artifact-actions.js";
import { readAgain, useNames } from "./data.js";
import { ListPanel } from "./list-panel.js";
import { NotePanel } from "./note-panel.js";
import { OpenMenu } from "./open-menu.js";
import { PanelLoading } from "./panel-states.js";
import { ViewPanel } from "./view-panel.js";

/** The tab Artifacts of the inspector: the same whichever thread is beside it, since what it shows is the workspace's. */
export default function ArtifactPanels({ threadId }: { readonly threadId: string }) {
  const list = usePanels((panels) => panels.list);
  return (
    <div className="artifacts" data-thread={threadId}>
      <InHeader>
        <OpenMenu />
      </InHeader>
      {list.length === 0 ? (
        <NothingOpen />
      ) : (
        <div className="panels" data-count={Math.min(list.length, 4)}>
          {list.map((panel) => (
            <OnePanel key={panel.id} panel={panel} />
          ))}
        </div>
      )}
    </div>
  );
}

/** The inspector's header has a place for what belongs to its tab. */
function InHeader({ children }: { readonly children: ReactNode }) {
  const [place, setPlace] = useState<HTMLElement | null>(null);
  useLayoutEffect(() => setPlace(document.getElementById("insp-actions")), []);
  return place ? createPortal(children, place) : <div className="artifacts-bar">{children}</div>;
}

function OnePanel({ panel }: { readonly panel: Panel }) {
  if (panel.kind === "list") return <ListPanel panel={panel} />;
  if (panel.kind === "note") return <NotePanel panel={panel} />;
  return <ViewPanel panel={panel} />;
}

const FEW = 6;

function NothingOpen() {
  const { data: names, error } = useNames();
  if (error && !names) {
    return (
      <div className="panel-wait" role="alert">
        <p className="ink-2">{problemOf(error).message}</p>
        <div className="btns">
          <Button small onClick={() => void readAgain()}>
            Try again
          </Button>
        </div>
      </div>
    );
  }
  if (!names) return <PanelLoading />;
  return (
    <div className="artifacts-none">
      <h2 className="strong">{names.length === 0 ? "No lists, notes or views yet" : "Nothing is open"}</h2>
      <p className="ink-2">
        Lists, notes and views are shared by you and your agents. What you select in them goes along with your
        messages.
      </p>
      <div className="btns">
        {names.slice(0, FEW).map((named) => (
          <Button key={named.id} icon={ICONS[named.kind]} onClick={() => void openNamed(named)}>
            <span className="cut">{named.name}</span>
          </Button>
        ))}
        {names.length === 0 && (
          <>
            <Button kind="primary" icon={ICONS.list} onClick={() => void createArtifact("list")}>
              New list
            </Button>
            <Button icon={ICONS.note} onClick={() => void createArtifact("note")}>
              New note
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
