import { Braces, CircleAlert, Eye, Text } from "lucide-react";
import type { Run } from "../../../src/protocol/index.js";
import { navigate, type ThreadRoute } from "../../state/router.js";
import { isUnderWay } from "../../state/runs.js";
import { Button } from "../../ui/button.js";
import { focusSoon } from "../../ui/focus-soon.js";
import { clockTime } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { type ShownRun, useJournal, useTold } from "./data.js";
import { DeliveryBox, Diagnostics, Shadowed } from "./delivery-box.js";
import { DeltaLine } from "./delta-line.js";
import { FailedRun } from "./failed-run.js";
import type { StepRecord } from "./journal.js";
import { RunPicker, StepPicker } from "./pickers.js";
import { PreviewPane } from "./preview-pane.js";
import { ReplayBox } from "./replay-box.js";
import { SectionList } from "./section-list.js";
import { Stack } from "./stack.js";
import { Problem, Skeleton } from "./states.js";
import { TokenFoot } from "./token-chart.js";
import { rowsOf, type Told } from "./told.js";
import { Total } from "./total.js";

interface ContextTabProps {
  readonly route: ThreadRoute;
  readonly shown: ShownRun;
}

/** What the agent was told. */
export function ContextTab({ route, shown }: ContextTabProps) {
  const { run, runs, loading, error } = shown;
  const choose = ({ id }: Run) => goTo(route, { run: id, step: undefined, preview: undefined });
  return (
    <>
      <div className="insp-body">
        {route.preview ? (
          <PreviewPane route={route} />
        ) : run ? (
          <RunContext route={route} run={run} runs={runs} />
        ) : (
          <NoRun route={route} loading={loading} error={error} />
        )}
      </div>
      <TokenFoot runs={runs} shown={route.preview ? undefined : run} choose={choose} />
    </>
  );
}

function goTo(route: ThreadRoute, change: Partial<ThreadRoute>): void {
  navigate({ ...route, message: undefined, pane: "context", ...change });
}

/** The button that leads there goes: who pressed it goes on at the one that leads back. */
function preview(route: ThreadRoute): void {
  goTo(route, { preview: true });
  focusSoon(() => document.querySelector<HTMLElement>(".would-h button"));
}

function NoRun({ route, loading, error }: { route: ThreadRoute; loading: boolean; error: unknown }) {
  if (loading) return <Skeleton />;
  if (error) return <Problem error={error} />;
  return (
    <div className="ip insp-blank">
      <p className="strong">{route.run ? "There is no such run" : "Nothing has been sent yet"}</p>
      <p className="small ink-3">
        Here stands what the agent was told, section by section, once you have asked it something.
      </p>
      <div className="btns">
        <Button small icon={Eye} data-preview-next="" onClick={() => preview(route)}>
          Preview next
        </Button>
      </div>
    </div>
  );
}

interface RunContextProps {
  readonly route: ThreadRoute;
  readonly run: Run;
  readonly runs: readonly Run[];
}

function RunContext({ route, run, runs }: RunContextProps) {
  const { data: told, error, steps } = useTold(run, route.step);
  // While a newer step is read the one before it stays: its own run is the one that is named.
  const of = runs.find(({ id }) => id === told?.run_id) ?? run;
  const { data: journal } = useJournal(of, steps);
  const record = told && journal?.steps.get(told.step);
  const ended = !isUnderWay(run);
  const nothing = steps === 0 && ended;
  return (
    <>
      <div className="ip row-x pick-line">
        <RunPicker route={route} run={nothing ? run : of} runs={runs} />
        {!nothing && told && (
          <StepPicker route={route} run={of} step={told.step} steps={Math.max(steps, told.step)} />
        )}
        <span className="grow" />
        {nothing && (
          <span className="small danger row-x nothing-sent">
            <Icon of={CircleAlert} size={14} />
            Nothing sent
          </span>
        )}
        {!nothing && record && <span className="small ink-3 num">{clockTime(record.at)}</span>}
      </div>
      {nothing && <FailedRun route={route} run={run} runs={runs} />}
      {!nothing && error && <Problem error={error} />}
      {!nothing && told && <ToldView route={route} told={told} run={of} runs={runs} record={record} />}
      {!nothing && !told && !error && <Waiting run={run} steps={steps} />}
      {(told || nothing) && (
        <div className="ip proof">
          <ReplayBox run={nothing ? run : of} />
          <Ways route={route} run={of} told={told} nothing={nothing} />
        </div>
      )}
    </>
  );
}

function Waiting({ run, steps }: { readonly run: Run; readonly steps: number }) {
  if (steps > 0) return <Skeleton />;
  return (
    <p className="ip small ink-3">
      {run.status === "queued"
        ? "Waits for its turn. Nothing has been sent yet."
        : "Nothing has been sent yet."}
    </p>
  );
}

interface ToldViewProps extends RunContextProps {
  readonly told: Told;
  readonly record: StepRecord | undefined;
}

function ToldView({ route, told, run, runs, record }: ToldViewProps) {
  const { manifest } = told;
  return (
    <>
      <div className="ip totals">
        <Total told={told} used={record?.usage?.input} />
        <Stack rows={rowsOf(manifest)} label="Share of each section" />
        <DeltaLine route={route} told={told} run={run} runs={runs} />
      </div>
      <Diagnostics list={record?.diagnostics ?? []} />
      <SectionList route={route} told={told} />
      <Shadowed manifest={manifest} />
      <DeliveryBox manifest={manifest} />
    </>
  );
}

interface WaysProps {
  readonly route: ThreadRoute;
  readonly run: Run;
  readonly told: Told | undefined;
  readonly nothing: boolean;
}

function Ways({ route, run, told, nothing }: WaysProps) {
  const full = (show: "text" | "request") => goTo(route, { run: run.id, step: told?.step, full: true, show });
  const off = nothing ? "Nothing was sent" : undefined;
  return (
    <div className="btns">
      <Button small icon={Text} off={off} onClick={() => full("text")}>
        Exact text
      </Button>
      <Button small icon={Braces} off={off} onClick={() => full("request")}>
        Request
      </Button>
      <Button small icon={Eye} data-preview-next="" onClick={() => preview(route)}>
        Preview next
      </Button>
    </div>
  );
}
