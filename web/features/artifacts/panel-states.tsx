import { problemOf } from "../../state/errors.js";
import { closePanel, type Panel } from "../../state/panels.js";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { restoreArtifact } from "./artifact-actions.js";
import { readAgain } from "./data.js";
import { ToolRefused } from "./tools.js";

const WIDTHS = ["82%", "64%", "74%"];

/** Rows as they will stand, for what takes longer than a moment. */
export function PanelLoading() {
  return (
    <div className="panel-wait late" role="status" aria-label="Loading">
      {WIDTHS.map((width) => (
        <div key={width} className="skel" style={{ width }} />
      ))}
    </div>
  );
}

/** Why nothing can be shown, and what can be done about it. */
export function PanelProblem({ panel, error }: { readonly panel: Panel; readonly error: unknown }) {
  const { message, code } = problemOf(error);
  const deleted = error instanceof ToolRefused && message.includes("was deleted");
  const restore = () => void restoreArtifact(panel.kind, panel.artifact).catch(toastProblem);
  return (
    <div className="panel-wait" role="alert">
      <p className="ink-2">
        {deleted ? `“${panel.name}” was deleted. It can be restored for 30 days.` : message}{" "}
        {code && <code className="ink-3">{code}</code>}
      </p>
      <div className="btns">
        {deleted ? (
          <Button small onClick={restore}>
            Restore {panel.kind}
          </Button>
        ) : (
          <Button small onClick={() => void readAgain()}>
            Try again
          </Button>
        )}
        <Button small kind="quiet" onClick={() => void closePanel(panel.id)}>
          Close panel
        </Button>
      </div>
    </div>
  );
}
