import { CircleAlert, CircleStop } from "lucide-react";
import type { Run } from "../../../src/protocol/index.js";
import { transcriptOf } from "../../state/messages.js";
import { navigate } from "../../state/router.js";
import { isUnderWay, useThreadRuns } from "../../state/runs.js";
import { docName, useThread, useTree } from "../../state/tree.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { useBusy } from "../../ui/use-busy.js";
import type { Item } from "./items.js";
import { type Place, usePlace, useShowContext } from "./place.js";
import { sendAgain } from "./resend.js";

interface EndingProps {
  readonly item: Extract<Item, { kind: "turn" | "run" }>;
  readonly run: Run | undefined;
}

const MARKS: Readonly<Record<string, string>> = {
  cancelled: "Stopped",
  interrupted: "Interrupted: the gateway stopped while it was at work",
  max_tokens: "Cut off: the model may not write more in one answer",
  refusal: "The model refused to go on",
};

/** How a turn ended, where it did not end with its answer. */
export function Ending({ item, run }: EndingProps) {
  const reason = item.kind === "turn" ? item.message.stopReason : undefined;
  const status = item.kind === "run" ? run?.status : undefined;
  if (run?.status === "failed" && (status === "failed" || reason === "error"))
    return <Failure run={run} said={item.kind === "turn"} />;
  const words = MARKS[typeof reason === "string" ? reason : (status ?? "")];
  if (words === undefined) return null;
  const again = reason === "interrupted" || status === "interrupted";
  return (
    <p className="turn-mark small ink-3">
      <Icon of={CircleStop} size={12} />
      {words}
      {again && run && <TryAgain run={run} kind="quiet" />}
    </p>
  );
}

/** What happened, what it means for the work, and what to do. */
function Failure({ run, said }: { readonly run: Run; readonly said: boolean }) {
  const showContext = useShowContext();
  const { code = "internal", message = "" } = run.error ?? {};
  const none = run.steps === 0;
  const title = none ? `Not started: ${reasonOf(code)}` : `Run ${run.number} failed: ${reasonOf(code)}`;
  return (
    <div className="fail">
      <div className="fail-h">
        <Icon of={CircleAlert} />
        <h2 className="grow">{title}</h2>
      </div>
      <div className="fail-b">
        <p>
          {visibleExactly(message)} {none && "Nothing was sent."}
          {said && "What it said and did until then is kept."}
        </p>
        <div className="btns">
          <TryAgain run={run} kind="primary" />
          {/^(hook|agents_doc|prompt)\./.test(code) && <OpenDoc run={run} />}
          <Button kind="quiet" onClick={() => void showContext(run.id)}>
            Show its context
          </Button>
          <span className="grow" />
          <code className="small ink-3">{visibleExactly(code)}</code>
        </div>
      </div>
    </div>
  );
}

const REASONS: readonly (readonly [RegExp, string])[] = [
  [/^hook\./, "a hook failed"],
  [/^agents_doc\./, "the instructions could not be resolved"],
  [/^prompt\./, "the prompt could not be put together"],
  [/^provider\.(auth|key|unauthor)/, "the provider does not know this key"],
  [/^provider\.(rate|overload|busy)/, "the provider is busy"],
  [/^provider\./, "the model could not be asked"],
  [/^program\./, "the agent’s program failed"],
  [/^agent\./, "the agent can’t be used"],
];

function reasonOf(code: string): string {
  return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? "something went wrong";
}

interface TryAgainProps {
  readonly run: Run;
  readonly kind: "primary" | "quiet";
}

function TryAgain({ run, kind }: TryAgainProps) {
  const place = usePlace();
  const [busy, work] = useBusy();
  const idle = useThread(place.thread)?.status === "idle";
  const begun = useThreadRuns(place.thread).some(isUnderWay);
  return (
    <Button
      kind={kind}
      small={kind === "quiet"}
      off={(begun || !idle) && !busy ? "Another run is under way" : undefined}
      busy={busy}
      onClick={() => work(() => tryAgain(place, run))}
    >
      Try again
    </Button>
  );
}

/** Asks once more what the run was asked. */
async function tryAgain(place: Place, run: Run): Promise<void> {
  const message = transcriptOf(place.thread).messages.find(({ id }) => id === run.user_message_id);
  if (message) await sendAgain(place, message);
}

function OpenDoc({ run }: { readonly run: Run }) {
  const { ws } = usePlace();
  const folder = useThread(run.thread_id)?.folder_id;
  const name = useTree((tree) => docName(tree, folder));
  return <Button onClick={() => navigate({ view: "doc", ws, folder })}>Open {name}</Button>;
}
