import { useQuery } from "@tanstack/react-query";
import type { Workspace } from "../../src/protocol/index.js";
import { keepInBrowser, readKept } from "./browser-storage.js";
import { call } from "./gateway.js";
import { useRoute } from "./router.js";

const LAST = "heddle.workspace";

export function useWorkspaces(): readonly Workspace[] {
  const { data } = useQuery({
    queryKey: ["workspaces"],
    queryFn: () => call("workspace/list", { limit: 100 }),
  });
  return data?.data ?? [];
}

/** The workspace that the address names, else the one that was open last, else the first. */
export function useWorkspace(): Workspace | undefined {
  const route = useRoute();
  const all = useWorkspaces();
  const named = route.ws ?? readKept(LAST);
  return all.find(({ id }) => id === named) ?? (route.ws === undefined ? all[0] : undefined);
}

export function rememberWorkspace(id: string): void {
  keepInBrowser(LAST, id);
}
