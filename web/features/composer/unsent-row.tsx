import { Pencil, RefreshCw, Unplug, X } from "lucide-react";
import { agentName, useAgent } from "../../state/agents.js";
import { splitContextLine } from "../../state/context-line.js";
import { useLink } from "../../state/gateway.js";
import { amend, post, takeBack, tryAgain, type Unsent } from "../../state/outbox.js";
import { toast } from "../../state/toasts.js";
import { Button, IconButton } from "../../ui/button.js";
import { counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import type { RowProps } from "./queued-row.js";
import { RowEditor } from "./row-editor.js";
import { handBack } from "./row-edits.js";
import { isSendable, withContext } from "./send.js";

const FIXED = "It is on its way. Whether it arrived is known when the gateway answers.";

/** A message that waits in this browser. */
export function UnsentRow({ unsent, editing, onEdit }: RowProps & { readonly unsent: Unsent }) {
  const { key, text, images, problem, tried, gone = [] } = unsent;
  const { line, text: words } = splitContextLine(text);
  if (editing) {
    return (
      <RowEditor
        name={{ thread: unsent.thread, row: key }}
        chosen={editing === "chosen"}
        load={async () => words}
        save={async (changed) => {
          if (!(await amend(key, { text: withContext(changed, line?.raw ?? ""), images })))
            handBack({ thread: unsent.thread, row: key });
        }}
        onClose={() => onEdit(false)}
      />
    );
  }
  const fixed = tried === true ? { disabled: true, title: FIXED } : {};
  return (
    <li className={problem ? "refused" : ""}>
      <span className="grow row-x">
        <Icon of={problem ? RefreshCw : Unplug} size={14} />
        <span className="cut" title={words}>
          <Recipient to={unsent.to} />
          {words || counted(images.length, "image")}
        </span>
      </span>
      <span className={`small ${problem ? "danger" : "ink-3"}`}>
        <State unsent={unsent} />
      </span>
      {problem && (
        <Button small onClick={() => tryAgain(key)}>
          Try again
        </Button>
      )}
      {gone.length > 0 && isSendable(without(unsent)) && (
        <Button small onClick={() => void amend(key, without(unsent))}>
          Send without {gone.length === 1 ? "it" : "them"}
        </Button>
      )}
      <IconButton icon={Pencil} small label="Edit" {...fixed} onClick={() => onEdit(true)} />
      <IconButton icon={X} small label="Remove" {...fixed} onClick={() => void remove(unsent)} />
      {problem && (
        <p className="why small" role="alert">
          {problem.message} {problem.code && <code>{problem.code}</code>}
        </p>
      )}
    </li>
  );
}

function State({ unsent: { problem, busy } }: { readonly unsent: Unsent }) {
  const offline = useLink(({ link }) => link !== "open");
  if (problem) return "Not sent";
  if (offline) return "Not sent yet, kept in this browser";
  return busy ? "Waiting, the gateway is busy" : "Sending";
}

function Recipient({ to }: { readonly to: string | undefined }) {
  const agent = useAgent(to);
  return to === undefined ? null : <span className="ink-3">To {agentName(agent, to)}: </span>;
}

async function remove(unsent: Unsent): Promise<void> {
  if (!(await takeBack(unsent.key))) return toast("It was sent before it was removed.");
  const { ws, thread, text, images, to } = unsent;
  toast("Removed from the queue", { label: "Undo", run: () => void post({ ws, thread, text, images, to }) });
}

function without({ text, images, gone = [] }: Unsent) {
  return { text, images: images.filter((id) => !gone.includes(id)) };
}
