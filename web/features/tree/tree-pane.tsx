import { SquarePen } from "lucide-react";
import { useEffect, useState } from "react";
import { problemOf } from "../../state/errors.js";
import { openTree, useTree } from "../../state/tree.js";
import { Button } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { newThread } from "./actions.js";
import { ThreadTree } from "./tree.js";
import { useRows } from "./use-rows.js";
import { restoreView, useView } from "./view.js";

/** The tree, or why there is none. */
export function TreePane() {
  const ws = useTree((tree) => tree.ws);
  const state = useTree((tree) => tree.state);
  if (state === "failed" && ws !== undefined) return <Failed ws={ws} />;
  if (state === "loading" || ws === undefined) return <Loading />;
  return <Ready key={ws} ws={ws} />;
}

function Ready({ ws }: { readonly ws: string }) {
  const [restored, setRestored] = useState(false);
  const none = useTree(({ threads, folders, docs }) => threads.size + folders.size + docs.size === 0);
  const noThreads = useTree((tree) => tree.threads.size === 0);
  useEffect(() => {
    restoreView(ws);
    setRestored(true);
  }, [ws]);
  if (!restored) return <div className="tree" />;
  return (
    <>
      {!none && <TreeRows ws={ws} />}
      {noThreads && <NoThreads />}
    </>
  );
}

function TreeRows({ ws }: { readonly ws: string }) {
  const rows = useRows();
  return (
    <>
      <ThreadTree ws={ws} rows={rows} />
      {rows.list.length === 0 && <NoMatch />}
      <Cut />
    </>
  );
}

/** Where a workspace has more threads than a window can hold. */
function Cut() {
  const cut = useTree((tree) => tree.cut);
  const shown = useTree((tree) => tree.threads.size);
  if (!cut) return null;
  return (
    <p className="tree-cut small ink-3">
      These are the {count(shown)} pinned and latest threads. Search finds the others, too.
    </p>
  );
}

function NoThreads() {
  return (
    <div className="tree-note">
      <p className="ink-2">No threads yet</p>
      <Button icon={SquarePen} small onClick={() => void newThread({})}>
        New thread
      </Button>
    </div>
  );
}

function NoMatch() {
  const filter = useView((view) => view.filter?.trim() ?? "");
  if (filter === "") return null;
  return (
    <p className="tree-note ink-3" role="status">
      Nothing matches “{filter}”
    </p>
  );
}

function Failed({ ws }: { readonly ws: string }) {
  const error = useTree((tree) => tree.error);
  const { message, code } = problemOf(error);
  return (
    <div className="tree-note" role="alert">
      <p>Could not read the tree.</p>
      <p className="small ink-3">
        {message} {code && <code>{code}</code>}
      </p>
      <Button small onClick={() => void openTree(ws)}>
        Try again
      </Button>
    </div>
  );
}

const PATIENCE_MS = 200;
const WIDTHS = ["34%", "52%", "61%", "46%", "57%", "40%"];

/** Rows as they will be; what comes at once needs none. */
function Loading() {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className="tree" aria-busy="true">
      {late &&
        WIDTHS.map((width) => (
          <div key={width} className="tr skel-row">
            <span className="skel" style={{ width }} />
          </div>
        ))}
    </div>
  );
}
