import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { call, client } from "../../state/gateway.js";
import type { StepContext } from "./data.js";
import { useNextMessage } from "./draft.js";
import type { Told } from "./told.js";

export interface Preview {
  readonly told: Told;
  readonly context: StepContext;
}

/** Of what happens in a workspace, what can change what would be sent. */
const CHANGES = [
  "thread/agents_doc/changed",
  "thread/tree/changed",
  "message/appended",
  "agent/changed",
  "prompt/changed",
  "artifact/changed",
] as const;
const QUIET_MS = 250;

/** What would be sent now, with what stands in the composer. Nothing is sent. */
export function usePreview(ws: string, thread_id: string, enabled: boolean) {
  const next = useNextMessage(thread_id);
  const queries = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    let quiet: ReturnType<typeof setTimeout> | undefined;
    const changed = () => {
      clearTimeout(quiet);
      quiet = setTimeout(
        () => void queries.invalidateQueries({ queryKey: ["run_preview", thread_id] }),
        QUIET_MS,
      );
    };
    const stops = CHANGES.map((name) => client.on(name, changed));
    return () => {
      clearTimeout(quiet);
      for (const stop of stops) stop();
    };
  }, [enabled, queries, thread_id]);
  return useQuery({
    queryKey: ["run_preview", thread_id, next?.key],
    queryFn: async (): Promise<Preview> => {
      const content = await next?.read();
      const answer = await call("run/preview", { workspace_id: ws, thread_id, content });
      const { manifest, messages, step } = answer;
      return { told: { run_id: undefined, step, manifest, messages }, context: answer };
    },
    enabled,
    gcTime: 0,
    retry: false,
    placeholderData: (before, of) => (of?.queryKey[1] === thread_id ? before : undefined),
  });
}
