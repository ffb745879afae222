import type { Run } from "../../../src/protocol/index.js";
import type { ThreadRoute } from "../../state/router.js";
import { count } from "../../ui/format.js";
import { Link } from "../../ui/link.js";
import { type Comparison, compare } from "./compare.js";
import { useTold } from "./data.js";
import { runBefore } from "./pickers.js";
import type { Told } from "./told.js";

interface DeltaLineProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly run: Run | undefined;
  readonly runs: readonly Run[];
}

/** `730 more than run 13: AGENTS.md, history`, and the way to the whole comparison. */
export function DeltaLine({ route, told, run, runs }: DeltaLineProps) {
  const before = run ? runBefore(runs, run) : runs.findLast(({ steps }) => steps > 0);
  const { data } = useTold(before, undefined);
  if (!before) return <p className="delta-line small ink-3">The first run of this thread</p>;
  const comparison = data?.run_id === before.id ? compare(told.manifest, data.manifest) : undefined;
  const to: ThreadRoute = {
    ...route,
    message: undefined,
    pane: "context",
    run: run?.id,
    step: run && told.step,
    full: true,
    compare: before.id,
  };
  return (
    <p className="delta-line row-x small ink-3">
      <span className="cut">{comparison ? <Words of={comparison} before={before} /> : "\u00a0"}</span>
      <span className="grow" />
      <Link className="lone" to={to}>
        Compare
      </Link>
    </p>
  );
}

function Words({ of: { delta, differing }, before }: { readonly of: Comparison; readonly before: Run }) {
  const names = differing.map(inSentence).join(", ");
  if (delta === 0 && names === "") return <>The same as run {before.number}</>;
  return (
    <>
      <span className="accent label num">{deltaWords(delta)}</span> {delta === 0 ? "as" : "than"} run{" "}
      {before.number}: {names}
    </>
  );
}

function deltaWords(delta: number): string {
  if (delta === 0) return "As long";
  return `${count(Math.abs(delta))} ${delta > 0 ? "more" : "fewer"}`;
}

/** `history`, but `AGENTS.md`. */
function inSentence(title: string): string {
  return /^[A-Z][a-z]/.test(title) ? title.charAt(0).toLowerCase() + title.slice(1) : title;
}
