import { type FormEvent, useId, useState } from "react";
import { type Problem, problemOf } from "../../state/errors.js";
import { command } from "../../state/gateway.js";
import { navigate } from "../../state/router.js";
import { readWorkspacesAgain } from "../../state/workspaces.js";
import { Button } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import "./pick.css";

/** Binds a directory of this machine to a workspace and goes there; one that is bound already is just opened. */
export function OpenProject({ onClose }: { onClose(): void }) {
  const [path, setPath] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [busy, setBusy] = useState(false);
  const hint = useId();
  const open = async (event: FormEvent) => {
    event.preventDefault();
    if (busy || path.trim() === "") return;
    setBusy(true);
    try {
      const { workspace } = await command("workspace/create", { root_path: path.trim() });
      await readWorkspacesAgain();
      onClose();
      navigate({ view: "home", ws: workspace.id });
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog label="Open a project" className="sheet" onClose={onClose}>
      <form onSubmit={(event) => void open(event)}>
        <h2 className="strong">Open a project</h2>
        <p className="ink-2" id={hint}>
          The directory of a project on this machine. Its threads are kept in <code>.agent/threads</code> in
          it.
        </p>
        <input
          className="pick-field boxed mono"
          aria-label="Directory"
          aria-describedby={hint}
          aria-invalid={problem !== undefined}
          autoFocus
          placeholder="/home/you/project"
          value={path}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => {
            setPath(event.target.value);
            setProblem(undefined);
          }}
        />
        <p className="field-problem" role="alert">
          {problem && (
            <>
              {problem.message} <code>{problem.code}</code>
            </>
          )}
        </p>
        <div className="btns end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            type="submit"
            off={path.trim() === "" ? "A path is needed" : undefined}
            aria-busy={busy}
          >
            Open project
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
