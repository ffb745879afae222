import { Search } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { isComposing } from "../../ui/composing.js";
import { Dialog } from "../../ui/dialog.js";
import { count } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { ICONS, openNamed } from "./artifact-actions.js";
import type { Named } from "./tools.js";

const MOST_SHOWN = 200;

interface FindArtifactProps {
  readonly names: readonly Named[];
  onClose(): void;
}

/** Finds one of many by a part of its name. */
export function FindArtifact({ names, onClose }: FindArtifactProps) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const wanted = text.trim().toLowerCase();
  const found = names.filter(({ name }) => name.toLowerCase().includes(wanted));
  const shown = found.slice(0, MOST_SHOWN);
  const choose = (named: Named | undefined) => {
    if (!named) return;
    onClose();
    openNamed(named);
  };
  const key = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Enter" && !isComposing(event)) choose(shown[at]);
    if (step === 0) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(at + step, shown.length - 1)));
  };
  return (
    <Dialog label="Open a list, note or view" className="find-artifact" onClose={onClose}>
      <label className="find-field">
        <Icon of={Search} size={16} />
        <input
          role="combobox"
          aria-label="Find a list, note or view"
          aria-expanded="true"
          aria-controls="found-artifacts"
          aria-activedescendant={shown[at] ? `found-${shown[at].id}` : undefined}
          placeholder="Find a list, note or view"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={key}
        />
      </label>
      <ul id="found-artifacts" role="listbox" aria-label="Lists, notes and views">
        {shown.map((named, index) => (
          <li
            key={named.id}
            id={`found-${named.id}`}
            role="option"
            aria-selected={index === at}
            className={index === at ? "sel" : ""}
            ref={(row) => {
              if (index === at) row?.scrollIntoView({ block: "nearest" });
            }}
            onPointerMove={() => setAt(index)}
            onClick={() => choose(named)}
          >
            <Icon of={ICONS[named.kind]} size={14} />
            <span className="grow cut">{named.name}</span>
            <span className="small ink-3">{named.kind}</span>
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p className="panel-none ink-3">Nothing matches “{text.trim()}”</p>}
      {found.length > shown.length && (
        <p className="panel-none small ink-3">
          {count(shown.length)} of {count(found.length)}, type to narrow
        </p>
      )}
    </Dialog>
  );
}
