import { ArrowDown } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { agentName, useAgent } from "../../state/agents.js";
import { useMatterAsked } from "../../state/attention.js";
import { useActiveRun } from "../../state/runs.js";
import { Button } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { StateMark } from "../../ui/state-mark.js";
import { wishOf } from "./asked.js";
import { approvalKey } from "./decisions.js";
import type { Item } from "./items.js";
import { usePlace } from "./place.js";
import { useReading } from "./reading.js";
import { NEAR_END, type Scroller } from "./scroller.js";

interface AboveComposerProps {
  readonly scroller: Scroller;
  readonly items: readonly Item[];
  readonly missed: number;
}

/** What can't be seen from here: new messages below, and calls that wait. It lies over the messages and moves nothing. */
export function AboveComposer({ scroller, items, missed }: AboveComposerProps) {
  const fresh = useFresh(scroller, items) + missed;
  useMatter(scroller, items);
  return (
    <div className="above">
      {fresh > 0 && (
        <button type="button" className="fresh" onClick={scroller.toEnd}>
          <Icon of={ArrowDown} size={12} />
          {count(fresh)} new
        </button>
      )}
      <Unseen scroller={scroller} />
    </div>
  );
}

/** How many messages came below since the end was last in view. */
function useFresh({ virtualizer }: Scroller, items: readonly Item[]): number {
  const last = items.at(-1)?.key;
  const seen = useRef(last);
  const [fresh, setFresh] = useState(0);
  const atEnd = items.length === 0 || virtualizer.getDistanceFromEnd() <= NEAR_END;
  useEffect(() => {
    if (atEnd || seen.current === undefined) seen.current = last;
    const at = items.findIndex(({ key }) => key === seen.current);
    setFresh(atEnd || at < 0 ? 0 : items.length - 1 - at);
  }, [atEnd, items, last]);
  return fresh;
}

function Unseen({ scroller }: { readonly scroller: Scroller }) {
  const { thread } = usePlace();
  const run = useActiveRun(thread);
  const seen = useReading((reading) => reading.seen);
  const approvals = run?.approvals;
  const first = useMemo(() => approvals?.find((one) => !seen.has(approvalKey(one))), [approvals, seen]);
  const settled = useSettled(
    first !== undefined && ![...(approvals ?? [])].some((one) => seen.has(approvalKey(one))),
  );
  const agent = useAgent(first?.agent_id);
  if (!first || !settled) return null;
  return (
    <div className="unseen">
      <StateMark mark="waiting" silent />
      <span className="grow cut">
        {agentName(agent, first.agent_id)} wants to {wishOf(first.name)}
      </span>
      <Button small onClick={() => void show(scroller, approvalKey(first))}>
        Show
      </Button>
    </div>
  );
}

const SETTLE_MS = 150;

/** A card that is about to be drawn is not announced first. */
function useSettled(wanted: boolean): boolean {
  const [settled, setSettled] = useState(false);
  useEffect(() => {
    if (!wanted) return setSettled(false);
    const timer = setTimeout(() => setSettled(true), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  return settled;
}

/** Somebody asked for a card by its key: they are brought to it, also where the thread is only just being read. */
function useMatter(scroller: Scroller, items: readonly Item[]): void {
  const { thread } = usePlace();
  const key = useMatterAsked((asked) => asked.key);
  const approvals = useActiveRun(thread)?.approvals;
  const isHere = approvals?.some((one) => approvalKey(one) === key) === true;
  const drawn = items.length > 0;
  const latest = useRef(scroller);
  useEffect(() => {
    latest.current = scroller;
  });
  useEffect(() => {
    if (key === undefined || !isHere || !drawn) return;
    useMatterAsked.setState({ key: undefined });
    void show(latest.current, key);
  }, [key, isHere, drawn]);
}

const LOOKS = 60;

async function show({ toEnd, box }: Scroller, key: string): Promise<void> {
  const find = () => box.current?.querySelector<HTMLElement>(`[data-approval="${CSS.escape(key)}"]`);
  if (!find()) toEnd();
  for (let look = 0; look < LOOKS && !find(); look++)
    await new Promise((done) => requestAnimationFrame(done));
  const card = find();
  card?.scrollIntoView({ block: "center" });
  card?.focus({ preventScroll: true });
}
