import type { Route } from "../../state/router.js";

export default function DocView({ route }: { readonly route: Extract<Route, { view: "doc" }> }) {
  return <main className="main">{route.folder}</main>;
}
