import type { ThreadRoute } from "../../state/router.js";

export default function ThreadView({ route }: { readonly route: ThreadRoute }) {
  return <main className="main">{route.thread}</main>;
}
