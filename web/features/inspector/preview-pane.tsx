import { Braces, Text, X } from "lucide-react";
import type { KeyboardEvent } from "react";
import { navigate, type ThreadRoute } from "../../state/router.js";
import { useThreadRuns } from "../../state/runs.js";
import { Button, IconButton } from "../../ui/button.js";
import { focusSoon } from "../../ui/focus-soon.js";
import { DeliveryBox, Shadowed } from "./delivery-box.js";
import { DeltaLine } from "./delta-line.js";
import { useNextMessage } from "./draft.js";
import { usePreview } from "./preview.js";
import { SectionList } from "./section-list.js";
import { Stack } from "./stack.js";
import { Problem, Skeleton } from "./states.js";
import { rowsOf } from "./told.js";
import { Total } from "./total.js";

/** The same view of what would be sent. It never sends. */
export function PreviewPane({ route }: { readonly route: ThreadRoute }) {
  const { data, error, isFetching } = usePreview(route.ws, route.thread, true);
  const runs = useThreadRuns(route.thread);
  const next = useNextMessage(route.thread);
  const leave = () => {
    navigate({ ...route, preview: undefined });
    focusSoon(() => document.querySelector<HTMLElement>("[data-preview-next]"));
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    // The drawer around it stays.
    event.preventDefault();
    leave();
  };
  const full = (show: "text" | "request") => navigate({ ...route, pane: "context", full: true, show });
  return (
    <section className="would" aria-label="Would be sent now" aria-busy={isFetching} onKeyDown={pressed}>
      <div className="row-x would-h">
        <h2 className="strong">Would be sent now</h2>
        <span className="grow" />
        <IconButton icon={X} label="Leave the preview" small onClick={leave} />
      </div>
      <p className="ip small ink-3 would-words">
        {next === undefined ? "Without a message. " : "With what stands in the composer. "}
        Nothing is sent.
      </p>
      {error && <Problem error={error} />}
      {!data && !error && <Skeleton />}
      {data && !error && (
        <>
          <div className="ip totals">
            <Total told={data.told} used={undefined} />
            <Stack rows={rowsOf(data.told.manifest)} label="Share of each section" />
            <DeltaLine route={route} told={data.told} run={undefined} runs={runs} />
          </div>
          <SectionList route={route} told={data.told} />
          <Shadowed manifest={data.told.manifest} />
          <DeliveryBox manifest={data.told.manifest} />
          <div className="ip btns proof">
            <Button small icon={Text} onClick={() => full("text")}>
              Exact text
            </Button>
            <Button small icon={Braces} onClick={() => full("request")}>
              Request
            </Button>
          </div>
        </>
      )}
    </section>
  );
}
