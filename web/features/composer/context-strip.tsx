import { Funnel, ListChecks, NotebookPen, X } from "lucide-react";
import { leaveOut, useContextLine, useGoesAlong } from "../../state/context-line.js";
import { IconButton } from "../../ui/button.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";

const ICONS = { list: ListChecks, note: NotebookPen, view: Funnel };

/** What is selected beside the thread goes along with the message: here it is seen, and can be left out. */
export function ContextStrip() {
  const along = useGoesAlong();
  const line = useContextLine();
  if (!along || line === undefined) return null;
  const { kind, name, selected } = along;
  return (
    <>
      <div className="ctxline">
        <Icon of={ICONS[kind]} size={14} />
        <span className="grow cut">
          {selected > 0 ? (
            <>
              <b className="label">{count(selected)} selected</b> in {name} {selected === 1 ? "goes" : "go"}{" "}
              along
            </>
          ) : (
            <>
              <b className="label">{name}</b> goes along
            </>
          )}
        </span>
        <IconButton icon={X} small label="Leave out" onClick={leaveOut} />
      </div>
      <div className="raw">{line}</div>
    </>
  );
}
