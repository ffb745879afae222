import { ListTree, Settings2 } from "lucide-react";
import { useWaitingMatters } from "../../state/attention.js";
import { useLink } from "../../state/gateway.js";
import { usePrefs } from "../../state/prefs.js";
import { useTree } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { NotifyOffer } from "./notify-offer.js";
import { WaitingButton } from "./waiting.js";

/** Which gateway this is, what is under way, and how the tree is grouped. */
export function SideFoot() {
  const ws = useTree((tree) => tree.ws);
  const waiting = useWaitingMatters(ws);
  const byAgent = usePrefs(({ groupBy }) => groupBy === "agent");
  return (
    <>
      <NotifyOffer />
      <footer className="side-foot">
        <Standing waiting={waiting.length > 0} />
        <WaitingButton matters={waiting} />
        <IconButton
          icon={ListTree}
          label="Group by agent"
          small
          aria-pressed={byAgent}
          className={byAgent ? "foot-first on" : "foot-first"}
          onClick={toggleGrouping}
        />
        {ws !== undefined && (
          <Link to={{ view: "settings", ws }} className="ib sm" aria-label="Settings" title="Settings">
            <Icon of={Settings2} size={14} />
          </Link>
        )}
      </footer>
    </>
  );
}

export function toggleGrouping(): void {
  usePrefs.setState(({ groupBy }) => ({ groupBy: groupBy === "agent" ? "folder" : "agent" }));
}

/** Where something waits too, there is room for one of the two: the place is what one knows. */
function Standing({ waiting }: { readonly waiting: boolean }) {
  const { link } = useLink();
  const running = useTree(({ threads }) => {
    let sum = 0;
    for (const { status } of threads.values()) if (status === "running") sum++;
    return sum;
  });
  if (link === "offline")
    return (
      <>
        <span className="dot off" />
        <span className="cut warn">Not connected</span>
      </>
    );
  return (
    <>
      <span className="dot" />
      <span className="cut" title={place()}>
        {running === 0
          ? place()
          : waiting
            ? `${count(running)} running`
            : `${place()}, ${count(running)} running`}
      </span>
    </>
  );
}

function place(): string {
  return /^(localhost|127\.|\[::1\])/.test(location.hostname) ? "Local" : location.hostname;
}
