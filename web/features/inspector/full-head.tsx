import { ArrowLeft, Eye, Minimize2 } from "lucide-react";
import type { Run } from "../../../src/protocol/index.js";
import { navigate, type ThreadRoute } from "../../state/router.js";
import { useThread } from "../../state/tree.js";
import { Button, IconButton } from "../../ui/button.js";
import { leaveFull } from "./commands.js";
import { ComparePicker, RunPicker, StepPicker } from "./pickers.js";
import type { Told } from "./told.js";

interface FullHeadProps {
  readonly route: ThreadRoute;
  readonly run: Run | undefined;
  readonly runs: readonly Run[];
  readonly told: Told | undefined;
  readonly steps: number;
  readonly against: Run | undefined;
  readonly usual: Run | undefined;
}

/** `none` as what it is compared with: nothing is. */
export const NOTHING = "none";

export function FullHead({ route, run, runs, told, steps, against, usual }: FullHeadProps) {
  const thread = useThread(route.thread);
  const title = route.preview
    ? "What would be sent now"
    : `Context of run ${run?.number ?? ""}, step ${told?.step ?? 1}`;
  return (
    <header className="bar full-bar">
      <h1 className="sr">{title}</h1>
      <Button kind="quiet" icon={ArrowLeft} className="full-back" onClick={() => leaveFull(route)}>
        <span className="cut">{thread?.title || "Thread"}</span>
      </Button>
      <span className="vr" />
      {route.preview ? (
        <span className="strong">Would be sent now</span>
      ) : (
        run && (
          <span className="row-x full-picks">
            <RunPicker route={route} run={run} runs={runs} />
            {told && (
              <StepPicker route={route} run={run} step={told.step} steps={Math.max(steps, told.step)} />
            )}
          </span>
        )
      )}
      <span className="grow" />
      <Shows route={route} />
      {usual && <Compares {...{ route, run, runs, against, usual }} />}
      <Button
        icon={Eye}
        aria-pressed={route.preview === true}
        className={route.preview ? "on" : ""}
        onClick={() => navigate({ ...route, preview: route.preview ? undefined : true })}
      >
        Preview next
      </Button>
      <IconButton
        icon={Minimize2}
        className="leave"
        label="Leave full width"
        keys="escape"
        size={14}
        onClick={() => leaveFull(route)}
      />
    </header>
  );
}

const SHOWS = [
  [undefined, "Sections"],
  ["text", "Exact text"],
  ["request", "Request"],
] as const;

function Shows({ route }: { readonly route: ThreadRoute }) {
  return (
    <div className="seg" role="group" aria-label="What is shown">
      {SHOWS.map(([show, words]) => (
        <button
          key={words}
          type="button"
          aria-pressed={route.show === show}
          onClick={() => navigate({ ...route, show }, { replace: true })}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

type ComparesProps = Pick<FullHeadProps, "route" | "run" | "runs" | "against"> & { readonly usual: Run };

function Compares({ route, run, runs, against, usual }: ComparesProps) {
  const set = (compare: string | undefined) => navigate({ ...route, compare }, { replace: true });
  const on = against !== undefined;
  return (
    <span className="row-x compares">
      <button
        type="button"
        role="switch"
        aria-checked={on}
        aria-label="Compare with another run"
        className={`toggle${on ? " on" : ""}`}
        onClick={() => set(on ? NOTHING : undefined)}
      />
      <span>Against</span>
      <ComparePicker run={run ?? usual} against={against ?? usual} runs={runs} choose={({ id }) => set(id)} />
    </span>
  );
}
