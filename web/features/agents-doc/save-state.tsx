import { Check, CircleAlert, GitCompare } from "lucide-react";
import { useLink } from "../../state/gateway.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import type { DocSession } from "./doc-session.js";
import { type DocState, phaseOf } from "./doc-state.js";

interface SaveStateProps {
  readonly session: DocSession;
  readonly state: DocState | undefined;
}

/** Whether what is written is saved: at the right of the header, in a box that keeps its width. */
export function SaveState({ session, state }: SaveStateProps) {
  const { link } = useLink();
  if (!state) return <span className="save" />;
  const phase = phaseOf(state);
  const { problem } = state;
  // A blink of the connection is over before anybody has read that there was one.
  const isBlink = problem?.because === "link" && link === "open";
  if (phase === "error" && problem && !isBlink)
    return (
      <span className="save save-error" role="alert">
        <Icon of={CircleAlert} size={14} />
        <span>
          Not saved: {problem.message}{" "}
          {problem.code && problem.because === "refused" && <code>{problem.code}</code>}
        </span>
        {problem.because !== "text" && (
          <Button small onClick={() => void session.save("manual")}>
            Try again
          </Button>
        )}
      </span>
    );
  if (phase === "conflict")
    return (
      <span className="chip warn">
        <Icon of={GitCompare} size={12} />
        Conflict
      </span>
    );
  return (
    <span className="save" role="status">
      {phase === "saved" && <Icon of={Check} size={14} />}
      {words(state, isBlink ? "dirty" : phase)}
    </span>
  );
}

function words({ base, mine }: DocState, phase: ReturnType<typeof phaseOf>): string {
  const version = base.version === 0 ? "No file yet" : `v${base.version}`;
  if (phase === "saving") return "Saving…";
  if (phase === "saved") return `Saved, ${version}`;
  if (phase === "dirty") return "Edited";
  return base.version > 0 && mine.trim() === "" ? `${version}, draft` : version;
}
