import { lazy, Suspense } from "react";
import { useTree } from "../state/tree.js";

const FirstVisit = lazy(() => import("../features/first-visit/first-visit.js"));

/** What main shows when nothing is open. */
export function Home() {
  const state = useTree((tree) => tree.state);
  if (state !== "ready") return <main className="main" aria-busy={state === "loading"} />;
  return (
    <Suspense fallback={<main className="main" aria-busy="true" />}>
      <FirstVisit />
    </Suspense>
  );
}
