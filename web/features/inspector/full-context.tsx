import type { ThreadRoute } from "../../state/router.js";

export default function FullContext({ route }: { readonly route: ThreadRoute }) {
  return <main className="main">{route.thread}</main>;
}
