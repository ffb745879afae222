import { useEffect } from "react";
import { type Command, matchesKeys, useCommandList } from "../state/commands.js";
import { usePrefs } from "../state/prefs.js";
import { isComposing } from "../ui/composing.js";
import { dropStrayKeys } from "./stray-keys.js";

/** Listens for the keys of every command that is offered. */
export function useKeys(): void {
  useEffect(dropStrayKeys, []);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      // A key that a list, menu or field took for itself is not a command, nor is one that composes a character.
      if (event.defaultPrevented || isComposing(event)) return;
      const command = useCommandList.getState().list.findLast((each) => isMeant(each, event));
      if (!command || command.off !== undefined) return;
      event.preventDefault();
      if (!isBehindDialog()) command.run();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** What a dialog covers must not change unseen. Where the focus is does not tell: a press beside its fields leaves them. */
function isBehindDialog(): boolean {
  return document.querySelector("dialog:modal") !== null;
}

function isMeant(command: Command, event: KeyboardEvent): boolean {
  if (!command.keys || !matchesKeys(event, command.keys)) return false;
  const held = event.metaKey || event.ctrlKey || event.altKey || /^F\d+$/.test(event.key);
  const anywhere = command.where === "anywhere" || (command.where === undefined && held);
  if (!anywhere && isTyping(event.target)) return false;
  // Where somebody dictates or has a keyboard of one hand, a stray letter must do nothing.
  return held || event.key.length > 1 || usePrefs.getState().singleKeys;
}

export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
