import { currentRoute, navigate, type Route } from "./router.js";
import { show } from "./toasts.js";

/** Whether the person is, when asked, where they are now: nothing else is open, and nothing else is being written. */
export function isStillHere(): () => boolean {
  const from = currentRoute();
  const at = document.activeElement;
  return () => {
    const now = document.activeElement;
    const writes = now !== at && now?.matches("input, textarea, [contenteditable=true]") === true;
    return currentRoute() === from && !writes;
  };
}

/**
 * To be asked for when something is commanded that leads elsewhere. Whoever went on before it was there is not taken away:
 * they are told, with the way to it.
 */
export function arrivalFrom(): (to: Route, words: string) => boolean {
  const isHere = isStillHere();
  return (to, words) => {
    const stays = isHere();
    if (stays) navigate(to);
    else show(words, { label: "Open it", run: () => navigate(to) });
    return stays;
  };
}
