import { ArrowUp, Paperclip, Square } from "lucide-react";
import { useRef } from "react";
import type { Run, Thread } from "../../../src/protocol/index.js";
import { useLink } from "../../state/gateway.js";
import { usePrefs } from "../../state/prefs.js";
import { Button, IconButton } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { useBusy } from "../../ui/use-busy.js";
import { Governs } from "./governs.js";
import { addImages, IMAGE_TYPES } from "./images.js";
import { stopRun } from "./send.js";
import { useTokens } from "./use-tokens.js";

interface FootProps {
  readonly thread: Thread;
  readonly text: string;
  readonly run: Run | undefined;
  /** Why nothing can be sent now; undefined: it can. */
  readonly off: string | undefined;
  onSend(): void;
}

/** What can be done with the message, and what will go along with it. */
export function Foot({ thread, text, run, off, onSend }: FootProps) {
  const offline = useLink(({ link }) => link === "offline");
  const verb = offline ? "Keep for later" : run ? "Queue" : "Send";
  return (
    <div className="foot">
      <Attach threadId={thread.id} />
      <Brief />
      <Governs thread={thread} />
      <span className="grow" />
      <Outlook thread={thread} text={text} idle={run === undefined} offline={offline} />
      {run && !offline && <Stop run={run} />}
      <button
        type="button"
        className={`send${off === undefined ? "" : " off"}`}
        aria-label={verb}
        title={off ?? verb}
        disabled={off !== undefined}
        onClick={onSend}
      >
        <Icon of={ArrowUp} />
      </button>
    </div>
  );
}

function Stop({ run }: { readonly run: Run }) {
  const [busy, work] = useBusy();
  return (
    <Button className="stop" keys="mod+." busy={busy} onClick={() => work(() => stopRun(run))}>
      <Square className="i filled" size={10} aria-hidden="true" />
      Stop
    </Button>
  );
}

function Attach({ threadId }: { readonly threadId: string }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon={Paperclip} label="Attach images" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={IMAGE_TYPES.join(",")}
        onChange={({ target }) => {
          void addImages(threadId, [...(target.files ?? [])]);
          target.value = "";
        }}
      />
    </>
  );
}

function Brief() {
  const brief = usePrefs((prefs) => prefs.brief);
  return (
    <button
      type="button"
      className="brief"
      aria-pressed={brief}
      title={brief ? "Brief answers are asked for" : "Ask for brief answers"}
      onClick={() => usePrefs.setState({ brief: !brief })}
    >
      Brief
    </button>
  );
}

interface OutlookProps {
  readonly thread: Thread;
  readonly text: string;
  readonly idle: boolean;
  readonly offline: boolean;
}

function Outlook({ thread, text, idle, offline }: OutlookProps) {
  const tokens = useTokens(thread, text, idle);
  if (offline) return <span className="only-wide cut tokens">Sent when the gateway is back</span>;
  if (tokens === undefined) return null;
  return <span className="num only-wide tokens">about {count(tokens)} tokens</span>;
}
