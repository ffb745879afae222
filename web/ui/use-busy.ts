import { useEffect, useRef, useState } from "react";

/** Work that is waited for, one at a time: what is asked for meanwhile is not done twice. */
export function useBusy(): readonly [busy: boolean, run: (work: () => Promise<unknown>) => void] {
  const [busy, setBusy] = useState(false);
  const atWork = useRef(false);
  const run = (work: () => Promise<unknown>) => {
    if (atWork.current) return;
    atWork.current = true;
    setBusy(true);
    const end = () => {
      atWork.current = false;
      setBusy(false);
    };
    work().then(end, end);
  };
  return [busy, run];
}

const SHOWN_AFTER_MS = 300;

/** What is over sooner shows no mark: it would only flicker. */
export function useShownBusy(busy: boolean): boolean {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (!busy) return setShown(false);
    const timer = setTimeout(() => setShown(true), SHOWN_AFTER_MS);
    return () => clearTimeout(timer);
  }, [busy]);
  return shown && busy;
}
