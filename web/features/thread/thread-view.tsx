import { useCallback, useEffect, useMemo, useState } from "react";
import { BackToTree } from "../../shell/back-to-tree.js";
import { OfflineBanner } from "../../shell/offline.js";
import { type Command, useCommands } from "../../state/commands.js";
import { useFindAsked } from "../../state/find-asked.js";
import type { ThreadRoute } from "../../state/router.js";
import { useMissing, useThread } from "../../state/tree.js";
import { Composer } from "../composer/composer.js";
import { FindBar } from "./find-bar.js";
import { ThreadHeader } from "./header.js";
import { LiveLine } from "./live-line.js";
import { PlaceContext } from "./place.js";
import { Transcript } from "./transcript.js";
import "./thread.css";
import "./parts.css";
import "./around.css";
import "./narrow.css";

/** A thread: what was said in it, and where one answers. */
export default function ThreadView({ route }: { readonly route: ThreadRoute }) {
  const { ws, thread: id, message } = route;
  const thread = useThread(id);
  const missing = useMissing(id);
  const place = useMemo(() => ({ ws, thread: id }), [ws, id]);
  const [finding, setFinding] = useState(false);
  const asked = useFindAsked(({ words }) => words !== undefined);
  const find = useCallback(() => setFinding(true), []);
  const closeFind = useCallback(() => setFinding(false), []);
  useFindCommand(finding, find);
  useEffect(() => {
    if (asked) find();
  }, [asked, find]);
  if (missing === "gone") return <Gone />;
  return (
    <PlaceContext value={place}>
      <main className="main thread">
        <ThreadHeader thread={thread} onFind={find} />
        <OfflineBanner />
        <div className="stage">
          {finding && <FindBar onClose={closeFind} />}
          <Transcript key={id} message={message} />
        </div>
        <Composer threadId={id} />
        <LiveLine />
      </main>
    </PlaceContext>
  );
}

/** Asked for again while it is open, the browser's own search is meant. */
function useFindCommand(finding: boolean, find: () => void): void {
  useCommands(
    useMemo<readonly Command[]>(
      () =>
        finding ? [] : [{ id: "find", title: "Find in thread", keys: "mod+f", where: "anywhere", run: find }],
      [finding, find],
    ),
  );
}

function Gone() {
  return (
    <main className="main">
      <header className="bar">
        <BackToTree />
        <h1 className="strong">Thread not found</h1>
      </header>
      <div className="blank">
        <h2>This thread is not here</h2>
        <p className="ink-2">
          It was deleted, or the address is of another workspace. Choose another one from the tree.
        </p>
      </div>
    </main>
  );
}
