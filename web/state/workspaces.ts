import { useQuery } from "@tanstack/react-query";
import type { Workspace } from "../../src/protocol/index.js";
import { keepInBrowser, readKept } from "./browser-storage.js";
import { call, client } from "./gateway.js";
import { queries } from "./queries.js";
import { useRoute } from "./router.js";

const LAST = "heddle.workspace";
const QUERY = ["workspaces"];

/** Nobody tells of workspaces that others make and name: they are read again when somebody may look at them. */
export function readWorkspacesAgain(): Promise<void> {
  return queries.invalidateQueries({ queryKey: QUERY, exact: true });
}

/** What is being read for the first time is not asked for twice. */
function lookAgain(): void {
  if (queries.getQueryData(QUERY) !== undefined) void readWorkspacesAgain();
}
addEventListener("focus", lookAgain);
client.onState((state) => state === "open" && lookAgain());

export function useWorkspaces(): readonly Workspace[] {
  const { data } = useQuery({
    queryKey: QUERY,
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
