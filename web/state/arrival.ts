import { currentRoute, navigate, type Route } from "./router.js";
import { show } from "./toasts.js";

/** Counts what is typed anywhere: where the focus is does not tell, as a dialog that closes gives it back to a field. */
let typed = 0;
addEventListener("input", () => typed++, true);

/** Whether the person is, when asked, where they are now: nothing else is open, and nothing was written since. */
export function isStillHere(): () => boolean {
  const from = currentRoute();
  const before = typed;
  return () => currentRoute() === from && typed === before;
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
