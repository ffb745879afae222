import { Copy, Download } from "lucide-react";
import { BackToTree } from "../../shell/back-to-tree.js";
import { navigate } from "../../state/router.js";
import { Button } from "../../ui/button.js";
import { copy, download } from "./doc-actions.js";
import type { DocSession } from "./doc-session.js";
import { type DocState, isDirty } from "./doc-state.js";

interface FolderGoneProps {
  readonly session: DocSession;
  readonly state: DocState | undefined;
}

/** The folder was deleted, here or elsewhere, and its document with it. What was not saved can still be had. */
export function FolderGone({ session, state }: FolderGoneProps) {
  const unsaved = state && (isDirty(state) || state.theirs) ? state.mine : undefined;
  return (
    <main className="main">
      <header className="bar">
        <BackToTree />
      </header>
      <div className="blank">
        <h1 className="blank-title">This folder is gone</h1>
        <p className="ink-2">
          It was deleted, and its AGENTS.md with it. Its threads moved up and follow what stands above.
          {unsaved !== undefined && " Your unsaved text is kept in this browser."}
        </p>
        <div className="btns blank-do">
          {unsaved !== undefined && (
            <>
              <Button icon={Copy} onClick={() => void copy(unsaved)}>
                Copy my text
              </Button>
              <Button icon={Download} onClick={() => download(unsaved)}>
                Download my text
              </Button>
            </>
          )}
          <Button kind="primary" onClick={() => navigate({ view: "doc", ws: session.ws })}>
            Open the root AGENTS.md
          </Button>
        </div>
      </div>
    </main>
  );
}
