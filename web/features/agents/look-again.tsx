import { RefreshCw } from "lucide-react";
import { useAgents } from "../../state/agents.js";
import { call } from "../../state/gateway.js";
import { queries } from "../../state/queries.js";
import { toast, toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { useBusy } from "../../ui/use-busy.js";

/** Has the gateway look for agents now: it does so by itself once a minute. */
export function LookAgain() {
  const { byId } = useAgents();
  const [busy, run] = useBusy();
  const look = async () => {
    try {
      const { data } = await call("agent/list", { look_again: true });
      await queries.invalidateQueries({ queryKey: ["agents"] });
      const found = data.filter(({ agent_id, hidden }) => !hidden && !byId.has(agent_id));
      toast(
        found.length > 0 ? `Found ${found.map((agent) => agent.display_name).join(", ")}` : "Nothing new",
      );
    } catch (error) {
      toastProblem(error);
    }
  };
  return (
    <Button small kind="quiet" icon={RefreshCw} busy={busy} onClick={() => run(look)}>
      Look again
    </Button>
  );
}
