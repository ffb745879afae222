import { useEffect, useMemo, useRef, useState } from "react";
import type { Run, Thread } from "../../../src/protocol/index.js";
import { useSize } from "../../shell/size.js";
import { agentName, useAgent } from "../../state/agents.js";
import { type Command, shownKeys, useCommands } from "../../state/commands.js";
import { useDraft } from "../../state/drafts.js";
import { useLink } from "../../state/gateway.js";
import { type Unsent, useOutbox } from "../../state/outbox.js";
import { loadRuns, useActiveRun, useQueue } from "../../state/runs.js";
import { useThread } from "../../state/tree.js";
import { Addressee } from "./addressee.js";
import { Attachments } from "./attachments.js";
import { Blocked, useBlocked } from "./blocked.js";
import "./queue.css";
import "./composer.css";
import { ContextStrip } from "./context-strip.js";
import { Field } from "./field.js";
import { Foot } from "./foot.js";
import { Queue } from "./queue.js";
import { useRowEdits } from "./row-edits.js";
import { isSendable, sendDraft, steerDraft, stopRun } from "./send.js";
import { Setup } from "./setup.js";
import { useDrop } from "./use-drop.js";
import { useLingering } from "./use-lingering.js";
import { WayBack } from "./way-back.js";

/** Where a thread is written to: what waits, the field, and what goes along. */
export function Composer({ threadId }: { readonly threadId: string }) {
  const thread = useThread(threadId);
  if (!thread) return <div className="dock" />;
  return <Dock key={threadId} thread={thread} />;
}

function Dock({ thread }: { readonly thread: Thread }) {
  const { id, workspace_id } = thread;
  const [editing, setEditing] = useState<string | undefined>();
  const begun = useRowEdits(thread);
  const run = useActiveRun(id);
  const rows = useRows(id, run);
  const why = useBlocked(thread);
  const field = useRef<HTMLTextAreaElement>(null);
  const focus = () => field.current?.focus();
  useEffect(() => void loadRuns(workspace_id, id).catch(() => {}), [workspace_id, id]);
  useComposerCommands(run, field);
  const edit = (row: string | undefined) => {
    setEditing(row);
    if (row === undefined) focus();
  };
  const last =
    rows.unsent.findLast(({ tried }) => !tried)?.key ?? rows.queued.findLast(({ origin }) => !origin)?.id;
  return (
    <div className="dock">
      <div className="col">
        <div className="tray">
          <WayBack thread={thread} />
          <Setup thread={thread} />
          {why !== undefined && <Blocked thread={thread} why={why} />}
          <Queue {...rows} editing={editing} begun={begun} onEdit={edit} />
        </div>
        <Box
          thread={thread}
          run={run}
          why={why}
          field={field}
          onUp={() => last !== undefined && edit(last)}
        />
      </div>
    </div>
  );
}

interface BoxProps {
  readonly thread: Thread;
  readonly run: Run | undefined;
  readonly why: string | undefined;
  readonly field: React.RefObject<HTMLTextAreaElement | null>;
  onUp(): void;
}

function Box({ thread, run, why, field, onUp }: BoxProps) {
  const draft = useDraft(thread.id);
  const over = useDrop(thread.id);
  const placeholder = usePlaceholder(thread, draft.to, run);
  useFirstFocus(thread, field);
  // Whoever else is addressed may well be able to answer.
  const blocked = draft.to === undefined ? why : undefined;
  const off = blocked ?? (isSendable(draft) ? undefined : "Write a message first");
  const send = () => off === undefined && sendDraft(thread);
  const steer = () => off === undefined && void steerDraft(thread, run);
  return (
    <div className={`composer${over ? " over" : ""}`}>
      <ContextStrip />
      {draft.to !== undefined && <Addressee threadId={thread.id} to={draft.to} />}
      <Attachments threadId={thread.id} images={draft.images} />
      <Field
        thread={thread}
        draft={draft}
        placeholder={over ? "Drop images to add them" : placeholder}
        field={field}
        onSend={send}
        onSteer={steer}
        onUp={onUp}
      />
      <Foot thread={thread} text={draft.text} run={run} off={off} onSend={send} />
    </div>
  );
}

const BLINK_MS = 500;

/** What stands in the queue. What is sent at once, or begins at once, is gone before it could be read. */
function useRows(threadId: string, run: Run | undefined) {
  const queued = useQueue(threadId);
  const unsent = useOutbox(threadId);
  const offline = useLink(({ link }) => link === "offline");
  const lingering = useLingering([...queued.map(({ id }) => id), ...unsent.map(({ key }) => key)], BLINK_MS);
  const isKept = ({ key, problem, busy }: Unsent) => offline || problem || busy || lingering.has(key);
  return {
    steering: run?.steering ?? [],
    queued: queued.filter(({ id }) => run !== undefined || lingering.has(id)),
    unsent: unsent.filter(isKept),
  };
}

function usePlaceholder({ agent_id }: Thread, to: string | undefined, run: Run | undefined): string {
  const id = to ?? agent_id;
  const agent = useAgent(id);
  const phone = useSize() === "phone";
  if (run && to === undefined)
    return phone ? "Queue a message" : `Queue a message, or ${shownKeys("mod+enter")} to steer the run`;
  return `Message ${agentName(agent, id)}`;
}

/** A new thread is there to be written to; elsewhere the focus is taken only from nobody. */
function useFirstFocus({ message_count }: Thread, field: React.RefObject<HTMLTextAreaElement | null>): void {
  const isNew = useRef(message_count === 0);
  useEffect(() => {
    const free = document.activeElement === null || document.activeElement === document.body;
    const touched = matchMedia("(pointer: coarse)").matches;
    if ((isNew.current || free) && !touched) field.current?.focus({ preventScroll: true });
  }, [field]);
}

function useComposerCommands(run: Run | undefined, field: React.RefObject<HTMLTextAreaElement | null>): void {
  useCommands(
    useMemo<readonly Command[]>(
      () => [
        {
          id: "stop",
          title: "Stop the run",
          keys: "mod+.",
          off: run ? undefined : "Nothing runs in this thread",
          run: () => run && void stopRun(run),
        },
        { id: "write", title: "Write a message", run: () => field.current?.focus() },
      ],
      [run, field],
    ),
  );
}
