import { X } from "lucide-react";
import { useMemo } from "react";
import { type Command, shownKeys, useCommandList } from "../../state/commands.js";
import { usePrefs } from "../../state/prefs.js";
import { Button, IconButton } from "../../ui/button.js";
import { Dialog } from "../../ui/dialog.js";
import { KEYS, type KeyArea, type KeyLine } from "./keys-table.js";
import "./keys-sheet.css";

/** Every key, by where it works. */
export default function KeysSheet({ onClose }: { onClose(): void }) {
  const commands = useCommandList(({ list }) => list);
  const more = useMemo(() => others(commands), [commands]);
  return (
    <Dialog label="Keyboard shortcuts" className="keys-sheet" onClose={onClose}>
      <header className="bar">
        <h2 className="strong grow">Keyboard shortcuts</h2>
      </header>
      <SingleKeysOff />
      <div className="keys-areas thin-scroll" role="region" aria-label="All keys" tabIndex={0}>
        {KEYS.map((area) => (
          <Area key={area.title} area={area} />
        ))}
        {more.length > 0 && <Area area={{ title: "Here", lines: more }} />}
      </div>
      <IconButton icon={X} label="Close" className="keys-close" onClick={onClose} />
    </Dialog>
  );
}

function SingleKeysOff() {
  const on = usePrefs((prefs) => prefs.singleKeys);
  if (on) return null;
  return (
    <p className="keys-off">
      <span className="grow">Single keys are switched off. Keys with a modifier work.</span>
      <Button small onClick={() => usePrefs.setState({ singleKeys: true })}>
        Switch single keys on
      </Button>
    </p>
  );
}

function Area({ area }: { readonly area: KeyArea }) {
  const off = usePrefs((prefs) => !prefs.singleKeys) && area.single === true;
  return (
    <section className={`keys-area${off ? " off" : ""}`} aria-label={area.title}>
      <h3>{area.title}</h3>
      <dl>
        {area.lines.map((each) => (
          <div key={each.does}>
            <dt>{each.does}</dt>
            <dd>
              {each.keys.map((keys) => (
                <kbd key={keys}>{shown(keys)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const ARROWS: Readonly<Record<string, string>> = { up: "↑", down: "↓", left: "←", right: "→" };

function shown(keys: string): string {
  const parts = keys.split("+");
  const last = parts.pop() as string;
  const arrow = ARROWS[last];
  if (arrow === undefined) return shownKeys(keys);
  return parts.length === 0 ? arrow : `${shownKeys(parts.join("+"))}${arrow}`;
}

/** Keys of what is open that the table does not name. */
function others(commands: readonly Command[]): KeyLine[] {
  const named = new Set(KEYS.flatMap(({ lines }) => lines.flatMap(({ keys }) => keys)));
  const found = new Map<string, KeyLine>();
  for (const { id, title, keys } of commands) {
    const own = keys?.split(" ").filter((each) => !named.has(each)) ?? [];
    if (own.length > 0) found.set(id, { does: title, keys: own });
  }
  return [...found.values()];
}
