import type { ServerContext } from "@modelcontextprotocol/server";

/** Often enough for clients that give up on a call of which they hear nothing for a minute. */
const EVERY_MS = 5_000;

/** Tells a client that wants to know that a call is still at work. Answers how to stop. */
export function tellProgress({ mcpReq }: ServerContext, token: string | number | undefined): () => void {
  if (token === undefined) return () => {};
  const began = performance.now();
  const timer = setInterval(() => {
    const progress = Math.round((performance.now() - began) / 1000);
    const params = { progressToken: token, progress, message: `at work for ${progress} seconds` };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  }, EVERY_MS);
  return () => clearInterval(timer);
}
