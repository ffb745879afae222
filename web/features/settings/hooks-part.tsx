import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import type { Result } from "../../../src/protocol/index.js";
import { call, client } from "../../state/gateway.js";
import { isUnderWay } from "../../state/runs.js";
import { counted, when } from "../../ui/format.js";
import { Part, Unread } from "./part.js";

type Package = Result<"hook/list">["data"][number];
type Subscription = Package["subscriptions"][number];

/** What adds to the context of a run, in which order, and what went wrong with it of late. */
export function HooksPart() {
  const { data, isError, refetch } = useQuery({
    queryKey: ["hooks"],
    queryFn: () => call("hook/list", {}),
    staleTime: 1_000,
  });
  useEffect(() => client.on("run/changed", ({ run }) => void (isUnderWay(run) || refetch())), [refetch]);
  return (
    <Part
      id="hooks"
      title="Hooks"
      about="They add sections to what an agent is told, in the order of their phase. A run shows what each added in its context."
    >
      {isError && !data && <Unread what="the hooks" onRetry={() => void refetch()} />}
      {data?.data.length === 0 && <p className="ink-3">No hook is installed.</p>}
      <ul className="set-list">
        {inOrder(data?.data ?? []).map(({ of, sub }) => (
          <SubscriptionRow key={`${of.id} ${sub.subscription_id}`} of={of} sub={sub} />
        ))}
      </ul>
    </Part>
  );
}

/** As they run: by phase, then by place in it. */
function inOrder(packages: readonly Package[]) {
  return packages
    .flatMap((of) => of.subscriptions.map((sub) => ({ of, sub })))
    .sort((a, b) => a.sub.phase.localeCompare(b.sub.phase) || a.sub.position - b.sub.position);
}

function SubscriptionRow({ of, sub }: { readonly of: Package; readonly sub: Subscription }) {
  const { total, last } = sub.failures;
  const [newest] = last;
  return (
    <li className="set-line">
      <div className="grow">
        <div className="label">{sub.hook_id}</div>
        <div className="small ink-3">
          {KINDS[of.source.kind]}, number {sub.position} in <code>{sub.phase}</code>
        </div>
        {newest && (
          <div className="small danger">
            {when(newest.at)}: {newest.message} <code>{newest.reason}</code>
          </div>
        )}
      </div>
      {total > 0 && <span className="chip danger">{counted(total, "failure")}</span>}
    </li>
  );
}

const KINDS = { built_in: "built in", module: "a module", command: "a command" };
