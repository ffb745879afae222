import { useState } from "react";
import { askToNotify, canNotify } from "../../state/attention.js";
import { usePrefs } from "../../state/prefs.js";
import { useTree } from "../../state/tree.js";
import { Button } from "../../ui/button.js";

/** Offered once, when something is under way for the first time: then one knows what it is for. */
export function NotifyOffer() {
  const open = usePrefs(({ notify }) => notify === "ask");
  const busy = useTree(({ threads }) => {
    for (const { status } of threads.values()) if (status !== "idle") return true;
    return false;
  });
  const [shown, setShown] = useState(false);
  if (busy && !shown) setShown(true);
  if (!open || !shown || !canNotify()) return null;
  return (
    <section className="offer" aria-label="Notifications">
      <p className="small">Be told when a run ends or asks while this window is hidden?</p>
      <div className="btns">
        <Button small onClick={() => void askToNotify()}>
          Notify me
        </Button>
        <Button kind="quiet" small onClick={() => usePrefs.setState({ notify: "off" })}>
          Not now
        </Button>
      </div>
    </section>
  );
}
