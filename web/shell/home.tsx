import { lazy, Suspense } from "react";
import { useTree } from "../state/tree.js";

const FirstVisit = lazy(() => import("../features/first-visit/first-visit.js"));
const RootView = lazy(() =>
  import("../features/tree/folder-view.js").then((view) => ({ default: view.RootView })),
);

/** What main shows when nothing is open: the root of the tree, or where to begin when there is nothing in it yet. */
export function Home() {
  const state = useTree((tree) => tree.state);
  const fresh = useTree((tree) => tree.threads.size === 0);
  if (state !== "ready") return <main className="main" aria-busy={state === "loading"} />;
  return (
    <Suspense fallback={<main className="main" aria-busy="true" />}>
      {fresh ? <FirstVisit /> : <RootView />}
    </Suspense>
  );
}
