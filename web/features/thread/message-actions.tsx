import { Copy, GitFork, Layers, Link2, Pencil } from "lucide-react";
import { pathOf } from "../../state/router.js";
import { IconButton } from "../../ui/button.js";
import { useBusy } from "../../ui/use-busy.js";
import { copyText, messageAsMarkdown } from "./as-markdown.js";
import type { Item } from "./items.js";
import { type Place, usePlace, useShowContext } from "./place.js";
import { beginEditing, useReading } from "./reading.js";
import { fork } from "./resend.js";

/** What can be done with a message; the same for its buttons and its keys. */
export interface MessageActions {
  readonly copy: () => void;
  readonly link: () => void;
  readonly edit?: (() => void) | undefined;
  readonly fork: () => Promise<unknown>;
  readonly context?: (() => void) | undefined;
}

/** `asked`: the user's message that this turn answers, if it is one. */
export function actionsOf(
  item: Item,
  place: Place,
  showContext: (run: string) => Promise<void>,
  asked: string | undefined,
): MessageActions | undefined {
  if (item.kind === "run") return undefined;
  const { message } = item;
  const run = message.run_id;
  return {
    copy: () => void copyText(messageAsMarkdown(message), "Copied as Markdown"),
    link: () => void copyText(location.origin + addressOf(place, message.id), "Copied the link"),
    ...(asked !== undefined && { edit: () => beginEditing(asked) }),
    fork: () => fork(place, message.id),
    ...(run !== undefined && { context: () => void showContext(run) }),
  };
}

function addressOf({ ws, thread }: Place, message: string): string {
  return pathOf({ view: "thread", ws, thread, message });
}

interface ActionsProps {
  readonly item: Item;
  readonly asked: string | undefined;
}

/** At the top right of a message, over the space, while it is pointed at or has the focus. */
export function Actions({ item, asked }: ActionsProps) {
  const actions = actionsOf(item, usePlace(), useShowContext(), item.kind === "user" ? asked : undefined);
  const tab = useReading(({ current }) => (current === item.key ? 0 : -1));
  const [forking, work] = useBusy();
  if (!actions) return null;
  const { copy, edit, context } = actions;
  return (
    <div className="acts" role="toolbar" aria-label="Message">
      <IconButton small icon={Copy} label="Copy as Markdown" keys="y" tabIndex={tab} onClick={copy} />
      <IconButton small icon={Link2} label="Copy link" tabIndex={tab} onClick={actions.link} />
      {edit && (
        <IconButton small icon={Pencil} label="Edit and resend" keys="r" tabIndex={tab} onClick={edit} />
      )}
      <IconButton
        small
        icon={GitFork}
        label="Fork from here"
        keys="f"
        tabIndex={tab}
        busy={forking}
        onClick={() => work(actions.fork)}
      />
      {context && (
        <IconButton small icon={Layers} label="Show its context" keys="x" tabIndex={tab} onClick={context} />
      )}
    </div>
  );
}
