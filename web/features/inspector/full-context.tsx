import { useEffect, useState } from "react";
import type { Run } from "../../../src/protocol/index.js";
import { navigate, type ThreadRoute } from "../../state/router.js";
import { useRun } from "../../state/runs.js";
import { leaveFull } from "./commands.js";
import { compare } from "./compare.js";
import { type StepContext, useContextOf, useJournal, useShownRun, useTold } from "./data.js";
import { DeliveryBox, Diagnostics, Shadowed } from "./delivery-box.js";
import { ExactText } from "./exact-text.js";
import { FailedRun } from "./failed-run.js";
import { FullHead, NOTHING } from "./full-head.js";
import { Bars, Summary } from "./full-summary.js";
import { SectionTable } from "./full-table.js";
import { runBefore } from "./pickers.js";
import { usePreview } from "./preview.js";
import { RequestText } from "./request-text.js";
import { SectionText } from "./section-text.js";
import { Problem, Skeleton } from "./states.js";
import { useFollow } from "./steps.js";
import { rowsOf, type Told } from "./told.js";
import "./inspector.css";
import "./parts.css";
import "./full.css";
import "./full-parts.css";

/** The context over the whole width: totals, what changed, and the text. */
export default function FullContext({ route }: { readonly route: ThreadRoute }) {
  const { run, runs, loading, error } = useShownRun(route.ws, route.thread, route.run);
  useFollow(route.ws, route.thread);
  useLeaving(route);
  const sent = useTold(run, route.step);
  const preview = usePreview(route.ws, route.thread, route.preview === true);
  const told = route.preview ? preview.data?.told : sent.data;
  const of = route.preview ? undefined : (runs.find(({ id }) => id === told?.run_id) ?? run);
  const usual = route.preview ? runs.findLast(({ steps }) => steps > 0) : runBefore(runs, of);
  const against = useAgainst(route, usual);
  const problem = route.preview ? preview.error : (sent.error ?? error);
  const nothing = !route.preview && run !== undefined && sent.steps === 0;
  return (
    <main className={`main full${route.preview ? " dashed" : ""}`}>
      <FullHead {...{ route, run: of, runs, told, against, usual }} steps={sent.steps} />
      {problem ? <Problem error={problem} /> : null}
      {!problem && !told && !nothing && (run || loading || route.preview ? <Skeleton /> : <Nothing />)}
      {nothing && run && <FailedRun route={route} run={run} runs={runs} />}
      {told && !problem && (
        <Shown {...{ route, told, run: of, runs, against }} previewed={preview.data?.context} />
      )}
    </main>
  );
}

function Nothing() {
  return (
    <div className="blank">
      <h2>Nothing has been sent yet</h2>
      <p className="ink-2">Preview next shows what would be sent now.</p>
    </div>
  );
}

/** The run it is held against: that of the address, else the one before; none where that is asked for. */
function useAgainst({ compare: named, thread }: ThreadRoute, usual: Run | undefined): Run | undefined {
  const found = useRun(named === NOTHING ? undefined : named);
  if (named === NOTHING) return undefined;
  return found?.thread_id === thread ? found : usual;
}

function useLeaving(route: ThreadRoute): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented) return;
      if (document.querySelector("dialog[open], [role=menu]")) return;
      event.preventDefault();
      leaveFull(route);
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [route]);
}

interface ShownProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly run: Run | undefined;
  readonly runs: readonly Run[];
  readonly against: Run | undefined;
  readonly previewed: StepContext | undefined;
}

function Shown({ route, told, run, runs, against, previewed }: ShownProps) {
  const context = useContextOf(told.run_id, told.step);
  const shown = told.run_id === undefined ? previewed : context.data;
  if (!route.show) return <Sections {...{ route, told, run, runs, against }} messages={shown?.messages} />;
  if (context.error) return <Problem error={context.error} />;
  if (!shown) return <Skeleton />;
  if (route.show === "text") return <ExactText {...{ route, told }} messages={shown.messages} />;
  return <RequestText request={shown.request} sent={told.run_id !== undefined} />;
}

type SectionsProps = Omit<ShownProps, "previewed"> & Pick<SplitProps, "messages">;

function Sections({ route, told, run, runs, against, messages }: SectionsProps) {
  const other = useTold(against, undefined).data;
  const before = against && other?.run_id === against.id ? other : undefined;
  const { data: journal } = useJournal(run, told.step);
  const record = journal?.steps.get(told.step);
  const comparison = before && compare(told.manifest, before.manifest);
  const choose = ({ id }: Run) => navigate({ ...route, run: id, step: undefined, preview: undefined });
  const held = against && before && comparison ? { run: against, told: before, comparison } : undefined;
  return (
    <div className="full-body">
      <Summary {...{ told, run, runs, choose }} used={record?.usage?.input} against={held} />
      <Bars
        told={told}
        name={run ? `Run ${run.number}` : "Next"}
        before={held && { told: held.told, name: `Run ${held.run.number}` }}
      />
      <Diagnostics list={record?.diagnostics ?? []} />
      <Shadowed manifest={told.manifest} />
      <DeliveryBox manifest={told.manifest} />
      <Split {...{ route, told, held, messages }} />
    </div>
  );
}

interface SplitProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly held:
    | { readonly run: Run; readonly told: Told; readonly comparison: ReturnType<typeof compare> }
    | undefined;
  readonly messages: StepContext["messages"] | undefined;
}

/** Sections at the left, the text of the selected one at the right. */
function Split({ route, told, held, messages }: SplitProps) {
  const [{ chosen, wants }, choose] = useState<{ chosen?: string; wants?: "cut" | undefined }>({});
  const rows = rowsOf(told.manifest);
  const changed = rows.find(
    ({ id, kind }) => kind === "section" && held?.comparison.changes.get(id)?.same === false,
  );
  const usual = changed ?? rows.find(({ id }) => id === "agents_md") ?? rows[0];
  const row = rows.find(({ id }) => id === chosen) ?? usual;
  const contextBefore = useContextOf(held?.told.run_id, held?.told.step, row?.kind === "history");
  const before = held && {
    told: held.told,
    row: rowsOf(held.told.manifest).find(({ id }) => id === row?.id),
  };
  return (
    <div className="split">
      <SectionTable
        {...{ route, told }}
        comparison={held?.comparison}
        against={held && `run ${held.run.number}`}
        selected={row?.id}
        select={(id, wanted) => choose({ chosen: id, wants: wanted })}
      />
      {row && (
        <SectionText
          key={row.id}
          {...{ route, told, row, before, messages }}
          wantsCut={wants === "cut"}
          messagesBefore={contextBefore.data?.messages}
        />
      )}
    </div>
  );
}
