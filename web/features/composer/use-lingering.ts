import { useEffect, useRef, useState } from "react";

/** Those of some ids that have been there for a while: what is gone in a blink is not worth a row. */
export function useLingering(ids: readonly string[], ms: number): ReadonlySet<string> {
  const seen = useRef(new Map<string, number>());
  const [, tick] = useState(0);
  const now = Date.now();
  for (const id of seen.current.keys()) if (!ids.includes(id)) seen.current.delete(id);
  for (const id of ids) if (!seen.current.has(id)) seen.current.set(id, now);
  const waits = ids.map((id) => (seen.current.get(id) as number) + ms - now).filter((left) => left > 0);
  const wait = waits.length === 0 ? undefined : Math.min(...waits);
  useEffect(() => {
    if (wait === undefined) return;
    const timer = setTimeout(() => tick((count) => count + 1), wait);
    return () => clearTimeout(timer);
  }, [wait]);
  return new Set(ids.filter((id) => (seen.current.get(id) as number) + ms <= now));
}
