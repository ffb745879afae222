import { Check, CircleAlert, Minus, X } from "lucide-react";
import { useEffect, useState } from "react";
import type { NotificationParams, Thread } from "../../../src/protocol/index.js";
import { client } from "../../state/gateway.js";
import { IconButton } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { StateMark } from "../../ui/state-mark.js";
import { Untrusted } from "./untrusted.js";

/** How far a thread's worktree is: runs wait for it, so that whoever writes has to know. */
export function Setup({ thread }: { readonly thread: Thread }) {
  const { setup } = thread;
  if (setup?.status === "running") return <Running thread={thread} />;
  if (setup?.status === "untrusted") return <Untrusted thread={thread} sha256={setup.content_sha256} />;
  if (setup?.status === "failed" || setup?.status === "interrupted") return <Ended thread={thread} />;
  return null;
}

type Progress = NotificationParams<"thread/setup">;

function Running({ thread }: { readonly thread: Thread }) {
  const [at, setAt] = useState<Progress | undefined>();
  useEffect(
    () => client.on("thread/setup", (note) => note.thread_id === thread.id && setAt(note)),
    [thread.id],
  );
  return (
    <div className="strip setup">
      <StateMark mark="running" silent />
      <span className="grow cut">
        <span role="status">The worktree is being set up; what you send waits for it.</span>{" "}
        {at?.step !== undefined && (
          <span className="ink-3 num">
            Step {at.step} of {at.of}, {at.label}
          </span>
        )}
      </span>
      {at?.output && <pre className="out">{lastLines(at.output)}</pre>}
    </div>
  );
}

const LINES = 3;

function lastLines(text: string): string {
  return text.trimEnd().split("\n").slice(-LINES).join("\n");
}

const ICONS = { done: Check, skipped: Minus, failed: X, timed_out: X };
const WORDS = { done: "done", skipped: "skipped", failed: "failed", timed_out: "took too long" };

/** It did not end well. The thread can be used all the same, so this can be put away. */
function Ended({ thread: { setup } }: { readonly thread: Thread }) {
  const [away, setAway] = useState(false);
  if (away || !setup) return null;
  const steps = setup.steps ?? [];
  const broken = steps.find(({ status }) => status === "failed" || status === "timed_out");
  const what =
    setup.status === "failed" ? "The worktree's set-up failed." : "The worktree's set-up was interrupted.";
  return (
    <div className="strip setup warn-strip">
      <Icon of={CircleAlert} size={14} />
      <span className="grow">{what} The agent works in it as it is.</span>
      <IconButton icon={X} small label="Put away" onClick={() => setAway(true)} />
      {steps.length > 0 && (
        <ul className="setup-steps small">
          {steps.map(({ label, status, reason }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two steps may be called the same, and none moves
            <li key={at}>
              <Icon of={ICONS[status]} size={12} />
              <span className="cut">{label}</span>
              <span className="ink-3">{reason ?? WORDS[status]}</span>
            </li>
          ))}
        </ul>
      )}
      {broken?.output && <pre className="out">{lastLines(broken.output)}</pre>}
    </div>
  );
}
