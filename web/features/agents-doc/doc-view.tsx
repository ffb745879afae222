import { lazy, Suspense, useEffect } from "react";
import { NotRead, useOffline } from "../../shell/offline.js";
import { isRefused } from "../../state/errors.js";
import { useTree } from "../../state/tree.js";
import { Button } from "../../ui/button.js";
import { Crumbs } from "./crumbs.js";
import type { DocSession, Held } from "./doc-session.js";
import { FolderGone } from "./folder-gone.js";
import type { DocRoute } from "./history.js";
import { OpenDoc } from "./open-doc.js";
import { useDoc } from "./use-doc.js";
import "./editor.css";

const conflictView = () => import("./conflict-view.js");
const ConflictView = lazy(conflictView);

/** The AGENTS.md of a scope: the text, what is known about it, and a conflict when there is one. */
export default function DocView({ route }: { readonly route: DocRoute }) {
  const { ws, folder } = route;
  const { session, held } = useDoc(ws, folder);
  useEffect(() => {
    // Read ahead: a conflict shows itself when a lost connection comes back, which is no time to wait for code.
    void conflictView().catch(() => {});
  }, []);
  const isReady = useTree((tree) => tree.ws === ws && tree.state === "ready");
  const isThere = useTree((tree) => folder === undefined || tree.folders.has(folder));
  if (isReady && !isThere) return <FolderGone session={session} state={held.state} />;
  if (!isReady || !held.state) return <Unread route={route} session={session} held={held} />;
  const { theirs } = held.state;
  if (!theirs || theirs.version === 0)
    return <OpenDoc session={session} state={held.state} route={route} restoredFrom={held.restoredFrom} />;
  return (
    <Suspense fallback={<main className="main" aria-busy="true" />}>
      <ConflictView session={session} state={{ ...held.state, theirs }} route={route} />
    </Suspense>
  );
}

interface UnreadProps {
  readonly route: DocRoute;
  readonly session: DocSession;
  readonly held: Held;
}

function Unread({ route, session, held }: UnreadProps) {
  const notRead = useOffline() && (held.failed === undefined || !isRefused(held.failed));
  return (
    <main className="main" aria-busy={held.failed === undefined && !notRead}>
      <header className="bar">
        <Crumbs {...route} />
      </header>
      {notRead && <NotRead />}
      {held.failed !== undefined && !notRead && (
        <div className="blank" role="alert">
          <h2>Could not read AGENTS.md</h2>
          <p className="ink-2">
            The gateway did not give it. Nothing was changed; what you typed here is kept.
          </p>
          <div className="btns blank-do">
            <Button kind="primary" onClick={() => void session.open()}>
              Try again
            </Button>
          </div>
        </div>
      )}
    </main>
  );
}
