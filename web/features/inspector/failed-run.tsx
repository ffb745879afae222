import { useQuery } from "@tanstack/react-query";
import type { Run } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import type { ThreadRoute } from "../../state/router.js";
import { count, counted } from "../../ui/format.js";
import { useHooks } from "./data.js";
import { runBefore } from "./pickers.js";
import { Source } from "./source.js";
import { rowsOf, type Told, toneOf } from "./told.js";

interface FailedRunProps {
  readonly route: ThreadRoute;
  readonly run: Run;
  readonly runs: readonly Run[];
}

/** A run that sent nothing: how far it came, and what kept it from going on. */
export function FailedRun({ route, run, runs }: FailedRunProps) {
  const before = runBefore(runs, run);
  const { data: told } = useQuery({
    queryKey: ["run_manifest", run.thread_id, before?.id, before?.steps],
    queryFn: async (): Promise<Told> => {
      const { manifest } = await call("run/manifest", { run_id: before?.id ?? "" });
      return { run_id: before?.id, step: manifest.step, manifest };
    },
    enabled: before !== undefined,
  });
  const hooks = useOrder(run);
  if (!hooks) return <p className="ip small ink-3">{wordsOf(run)}</p>;
  const { reached, failed, after } = hooks;
  const base = told && rowsOf(told.manifest)[0];
  return (
    <>
      <ol className="secs" aria-label="Sections, in their order">
        <li className="sec s-base">
          <span className="h">Base prompt</span>
          <span className="tok wide">{base ? count(base.tokens) : "reached"}</span>
          {told && base && (
            <span className="src">
              <Source route={route} told={told} row={base} />
            </span>
          )}
        </li>
        {reached.map((hook) => (
          <li key={hook.hook_id} className={`sec ${toneOf(sectionOf(hook.hook_id))}`}>
            <span className="h">{titleOf(hook.hook_id, told)}</span>
            <span className="tok wide ink-3">reached</span>
            <span className="src">{hook.hook_id}</span>
          </li>
        ))}
        <li className="sec s-failed sel">
          <span className="h">{titleOf(failed.hook_id, told)}</span>
          <span className="tok wide danger">failed</span>
          <span className="src">
            {failed.hook_id}, {failed.failure_policy === "fail_closed" ? "fail closed" : "best effort"}
          </span>
        </li>
        {after[0] && (
          <li className={`sec ${toneOf(sectionOf(after[0].hook_id))}`}>
            <span className="h ink-3">{titleOf(after[0].hook_id, told)}</span>
            <span className="tok wide ink-3">not reached</span>
            {after.length > 1 && (
              <span className="src">and {counted(after.length - 1, "section")} after it</span>
            )}
          </li>
        )}
      </ol>
      <p className="ip small ink-2 failed-words">
        {run.error?.message} <code>{run.error?.code}</code>
      </p>
    </>
  );
}

function wordsOf({ error, status }: Run): string {
  if (error) return `${error.message} (${error.code})`;
  return status === "cancelled"
    ? "Cancelled before anything was sent."
    : "It ended before anything was sent.";
}

/** The hooks of the phase that failed, before and after the one that did. */
function useOrder({ error }: Run) {
  const failed =
    error?.code === "hook.failed" ? /^Hook (\S+) of package/.exec(error.message)?.[1] : undefined;
  const { data } = useHooks(failed !== undefined);
  const hook = data?.find(({ hook_id }) => hook_id === failed);
  if (!data || !hook) return undefined;
  const phase = data.filter((each) => each.phase === hook.phase).sort((a, b) => a.position - b.position);
  const at = phase.indexOf(hook);
  return { reached: phase.slice(0, at), failed: hook, after: phase.slice(at + 1) };
}

const TITLES: Readonly<Record<string, readonly [section: string, title: string]>> = {
  "pioneer.thread_agents_doc_prompt": ["agents_md", "AGENTS.md"],
  "heddle.tools_prompt": ["tools", "Available tools"],
  "heddle.skills_prompt": ["skills", "Available CLI skills"],
  "heddle.artifact_items_prompt": ["artifact_items", "Available artifact items"],
  "heddle.message_context_prompt": ["message_context", "Message context"],
  "heddle.artifact_panels_prompt": ["artifact_panels", "Artifacts panels"],
  "heddle.agents_prompt": ["agents", "Available agents"],
};

function sectionOf(hook_id: string): string {
  return TITLES[hook_id]?.[0] ?? "";
}

/** A hook of somebody's own is known by the section it gave the run before. */
function titleOf(hook_id: string, told: Told | undefined): string {
  const given = told?.manifest.sections.find(({ source }) => source.hook_id === hook_id);
  return TITLES[hook_id]?.[1] ?? given?.title ?? hook_id;
}
