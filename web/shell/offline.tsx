import { Unplug } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { client, useLink } from "../state/gateway.js";
import { Button } from "../ui/button.js";
import { Icon } from "../ui/icon.js";
import "./offline.css";

/** Below main's header while the gateway can't be reached. A view that does not render it itself makes room for the shell's. */
export function OfflineBanner() {
  return useOffline() ? <Banner /> : null;
}

export function useOffline(): boolean {
  return useLink(({ link }) => link === "offline");
}

/** In the place of what nobody read in time: a blank page would look as if there were nothing. */
export function NotRead() {
  return (
    <div className="blank" role="status">
      <p className="ink-2">
        This was not read before the connection was lost. It comes when the gateway is back.
      </p>
    </div>
  );
}

function Banner() {
  const ref = useRef<HTMLDivElement>(null);
  useRoom(ref);
  return (
    <div ref={ref} className="offline">
      <Icon of={Unplug} />
      <p className="grow">
        <b className="strong" role="alert">
          The gateway does not answer.
        </b>{" "}
        <span className="ink-2">
          You can read and write; nothing is lost. <Countdown />
        </span>
      </p>
      <Button small onClick={() => client.retryNow()}>
        Try now
      </Button>
    </div>
  );
}

const LOOK_MS = 200;

/** Not a part of what is announced: a number that changes each second would be read aloud each second. */
function Countdown() {
  const [seconds, setSeconds] = useState(secondsLeft);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(secondsLeft()), LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <span className="num again">{seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again now."}</span>
  );
}

function secondsLeft(): number {
  return client.retryAt === undefined ? 0 : Math.max(0, Math.ceil((client.retryAt - Date.now()) / 1_000));
}

/** How high it is depends on the width; the header below which it lies keeps that much free. */
function useRoom(ref: React.RefObject<HTMLDivElement | null>): void {
  useLayoutEffect(() => {
    const banner = ref.current;
    if (!banner) return;
    const { style } = document.documentElement;
    const watch = new ResizeObserver(() => style.setProperty("--offline", `${banner.offsetHeight}px`));
    style.setProperty("--offline", `${banner.offsetHeight}px`);
    watch.observe(banner);
    return () => {
      watch.disconnect();
      style.removeProperty("--offline");
    };
  }, [ref]);
}
