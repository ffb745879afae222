import type { ThreadRoute } from "../../state/router.js";

export default function Inspector({ route }: { readonly route: ThreadRoute }) {
  return (
    <aside className="insp" aria-label="Inspector">
      {route.thread}
    </aside>
  );
}
