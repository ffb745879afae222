import { useQuery } from "@tanstack/react-query";
import { call } from "../../state/gateway.js";
import { useTree } from "../../state/tree.js";

interface ConfigFile {
  /** Where the configuration is, or would be. */
  readonly file: string | undefined;
  /** Why the last edit of it is not in effect. */
  readonly problem: string | undefined;
}

export function useConfigFile(): ConfigFile {
  const ws = useTree((tree) => tree.ws);
  const { data } = useQuery({
    queryKey: ["agents", ws, "file"],
    queryFn: () => call("agent/list", { workspace_id: ws }),
    enabled: ws !== undefined,
  });
  return { file: data?.config_file, problem: data?.problem };
}
