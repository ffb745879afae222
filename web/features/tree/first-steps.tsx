import type { ReactNode } from "react";
import { openOverlay } from "../../shell/overlays.js";
import { dyeOf, useAgents } from "../../state/agents.js";
import { goToNextMatter } from "../../state/attention.js";
import { shownKeys } from "../../state/commands.js";
import { ROOT, useTree } from "../../state/tree.js";
import { newThread, openDoc } from "./actions.js";
import { openDialog } from "./view.js";

/** What one does first in a folder, each with its key. */
export function FirstSteps({ folder }: { readonly folder: string | undefined }) {
  const known = useTree((tree) => tree.docs.has(folder ?? ROOT));
  const own = folder === undefined ? "Give the root an AGENTS.md" : "Give this folder its own AGENTS.md";
  return (
    <div className="keys steps">
      <Step keys="c" run={() => void newThread({ folder })}>
        <NewThread />
      </Step>
      <Step keys="shift+c" run={() => openDialog({ kind: "agent", folder })}>
        New thread with another agent
      </Step>
      <Step keys="e" run={() => openDoc(folder)}>
        {known ? "Edit AGENTS.md" : own}
      </Step>
      {folder !== undefined && (
        <Step keys="m" run={() => openDialog({ kind: "move-here", folder })}>
          Move threads here
        </Step>
      )}
      {folder === undefined && (
        <>
          <Step keys="mod+k" run={() => openOverlay({ kind: "palette" })}>
            Search or run
          </Step>
          <Step keys="w" run={goToNextMatter}>
            Next thing that waits for you
          </Step>
        </>
      )}
    </div>
  );
}

/** Who will answer, where nobody else is asked for. */
function NewThread() {
  const usual = useAgents().list.find((agent) => agent.default);
  if (!usual) return "New thread";
  const { className, style } = dyeOf(usual, usual.agent_id);
  return (
    <>
      New thread with{" "}
      <b className={`ag ${className}`} style={style}>
        {usual.display_name}
      </b>
    </>
  );
}

interface StepProps {
  readonly keys: string;
  run(): void;
  readonly children: ReactNode;
}

function Step({ keys, run, children }: StepProps) {
  return (
    <button type="button" className="step" onClick={run}>
      <span className="grow">{children}</span>
      <kbd aria-hidden="true">{shownKeys(keys)}</kbd>
    </button>
  );
}
