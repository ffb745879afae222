import { useQuery } from "@tanstack/react-query";
import type { Result } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";

interface WorkspaceFacts {
  readonly facts: Result<"workspace/get"> | undefined;
  readonly failed: boolean;
  retry(): void;
}

/** A workspace, what its project would run, and what is wrong with its files. Read anew whenever it is looked at. */
export function useWorkspaceFacts(ws: string): WorkspaceFacts {
  const { data, isError, refetch } = useQuery({
    queryKey: ["agents", ws, "workspace"],
    queryFn: () => call("workspace/get", { workspace_id: ws }),
    staleTime: 1_000,
    refetchOnWindowFocus: true,
  });
  return { facts: data, failed: isError && !data, retry: () => void refetch() };
}
