import { useEffect } from "react";
import { create } from "zustand";

/**
 * Something a person can do by name. The palette lists it, the help sheet shows its keys, and the window listens for them.
 */
export interface Command {
  readonly id: string;
  /** A verb and its object: `New thread`. */
  readonly title: string;
  /** `mod+k`, `shift+c`, `f6`, `?`; several ways separated by a space. `mod` is ⌘ on a Mac and Ctrl elsewhere. */
  readonly keys?: string;
  /** `anywhere` also while typing; `outside` text fields only. Default: decided by whether a modifier is held. */
  readonly where?: "anywhere" | "outside";
  /** Why it can't be done now; the palette says so. */
  readonly off?: string | undefined;
  /** Not in the palette. */
  readonly hidden?: boolean;
  run(): void;
}

interface Commands {
  readonly list: readonly Command[];
}

export const useCommandList = create<Commands>()(() => ({ list: [] }));

/** Offers commands as long as the component is there. The newest wins where two want the same key. */
export function useCommands(commands: readonly Command[]): void {
  useEffect(() => {
    useCommandList.setState(({ list }) => ({ list: [...list, ...commands] }));
    return () =>
      useCommandList.setState(({ list }) => ({ list: list.filter((each) => !commands.includes(each)) }));
  }, [commands]);
}

const MAC = /Mac|iP(hone|ad)/.test(navigator.platform);

/** Keys as they are shown: `⌘K` on a Mac, `Ctrl K` elsewhere. */
export function shownKeys(keys: string): string {
  const names: Record<string, string> = MAC
    ? { mod: "⌘", shift: "⇧", alt: "⌥", enter: "⏎", escape: "esc" }
    : { mod: "Ctrl ", shift: "⇧", alt: "Alt ", enter: "⏎", escape: "esc" };
  const [first = ""] = keys.split(" ");
  return first
    .split("+")
    .map((part) => names[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}

/** Whether a key press is one of these. `mod+.` and `?` are compared by what is typed, letters by their lower case. */
export function matchesKeys(event: KeyboardEvent, keys: string): boolean {
  return keys.split(" ").some((way) => {
    const parts = way.split("+");
    const key = parts.pop() as string;
    const wants = (name: string) => parts.includes(name);
    if (event.key.toLowerCase() !== key) return false;
    if ((MAC ? event.metaKey : event.ctrlKey) !== wants("mod") || event.altKey !== wants("alt")) return false;
    if (MAC && event.ctrlKey) return false;
    // Which characters need Shift is the keyboard's affair; for letters and named keys it is part of the command.
    return event.shiftKey === wants("shift") || (key.length === 1 && !/[a-z]/.test(key));
  });
}
