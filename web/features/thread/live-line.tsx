import { useEffect, useRef, useState } from "react";
import { agentName, useAgent } from "../../state/agents.js";
import { useActiveRun, useRun } from "../../state/runs.js";
import { useThread } from "../../state/tree.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { usePlace } from "./place.js";

/** The one line that is read out: that somebody answers, has answered, or waits. The words themselves are not. */
export function LiveLine() {
  const { thread } = usePlace();
  const run = useActiveRun(thread);
  const last = useRef(run?.id);
  if (run) last.current = run.id;
  const ended = useRun(last.current);
  const id = useThread(thread)?.agent_id ?? "";
  const name = visibleExactly(agentName(useAgent(run?.agent_id ?? id), run?.agent_id ?? id));
  const words = wordsFor(run?.status ?? (last.current === undefined ? undefined : ended?.status));
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(words === undefined ? "" : `${name} ${words}`), [name, words]);
  return (
    <p className="sr" role="status" aria-live="polite">
      {said}
    </p>
  );
}

function wordsFor(status: string | undefined): string | undefined {
  switch (status) {
    case "running":
      return "is answering";
    case "waiting":
      return "waits for you";
    case "completed":
      return "answered";
    case "failed":
    case "interrupted":
      return "could not answer";
    case "cancelled":
      return "was stopped";
    default:
      return undefined;
  }
}
