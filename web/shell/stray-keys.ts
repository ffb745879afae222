/** The text field that has the focus, or had it when it was taken away. */
let field: Element | undefined;
/** The last key pressed was one of writing: what goes away after it goes away under the typing. */
let writing = false;

const NO_TEXT = /^(button|checkbox|color|file|image|radio|range|reset|submit)$/;

/** A field whose letters are text; a tick box or a slider loses none. */
function holdsText(target: EventTarget | null): target is HTMLElement {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !NO_TEXT.test(target.type);
  return target.isContentEditable || target instanceof HTMLTextAreaElement;
}

/** In a field of one line Enter ends the writing, in one of several it belongs to it. */
function isWriting(event: KeyboardEvent): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key === "Enter") return !(event.target instanceof HTMLInputElement);
  return event.key.length === 1 || event.key === "Backspace" || event.key === "Delete";
}

function isLost(): boolean {
  return field !== undefined && !field.isConnected && writing && !holdsText(document.activeElement);
}

function forget(): void {
  if (isLost()) field = undefined;
}

function focused({ target }: FocusEvent): void {
  // What the page itself gives the focus to, after the field went, is not where the person meant to write.
  if (holdsText(target)) field = target;
  else if (!isLost()) field = undefined;
}

function pressed(event: KeyboardEvent): void {
  if (/^(Shift|Control|Alt|Meta|CapsLock)$/.test(event.key)) return;
  if (event.key === "Tab" || event.key === "Escape") forget();
  const now = isWriting(event);
  if (now && isLost()) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else writing = now;
}

/**
 * When a text field goes away under the typing (another window deleted the thread), what is typed on must not run as
 * commands: it is dropped, until the person presses, goes back, or says with Tab or Escape that they have seen it.
 */
export function dropStrayKeys(): () => void {
  const listeners = [
    ["keydown", pressed],
    ["focusin", focused],
    ["pointerdown", forget],
    ["popstate", forget],
  ] as [string, EventListener][];
  for (const [name, listener] of listeners) addEventListener(name, listener, true);
  return () => {
    for (const [name, listener] of listeners) removeEventListener(name, listener, true);
  };
}
