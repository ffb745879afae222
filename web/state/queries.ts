import { QueryClient } from "@tanstack/react-query";
import { isRefused } from "./errors.js";
import { client } from "./gateway.js";

/**
 * What is read now and then and told of when it changes. A refusal is an answer: asking again would get the same.
 */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      networkMode: "always",
      retry: (count, error) => count < 2 && !isRefused(error),
    },
  },
});

const stale = (...queryKey: unknown[]) => void queries.invalidateQueries({ queryKey });

client.on("agent/changed", () => {
  stale("agents");
  stale("tools");
});
client.on("thread/agents_doc/changed", ({ workspace_id }) => stale("agents_doc", workspace_id));
client.on("artifact/changed", ({ workspace_id }) => stale("artifacts", workspace_id));
client.on("prompt/changed", () => stale("prompts"));
client.onResync(() => stale());
