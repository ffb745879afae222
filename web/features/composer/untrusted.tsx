import { useQuery } from "@tanstack/react-query";
import { CircleAlert } from "lucide-react";
import type { Thread } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { useBusy } from "../../ui/use-busy.js";

interface UntrustedProps {
  readonly thread: Thread;
  readonly sha256: string | undefined;
}

/** What a project's file would run in the worktree, word for word: only who has read it can trust it. */
export function Untrusted({ thread, sha256 }: UntrustedProps) {
  const { workspace_id, id: thread_id } = thread;
  const { data } = useQuery({
    queryKey: ["workspaces", workspace_id, "trust", sha256],
    queryFn: () => call("workspace/get", { workspace_id }),
  });
  const [busy, work] = useBusy();
  const shown = data?.trust?.find(({ kind }) => kind === "worktree_hooks");
  const trust = () =>
    call("workspace/trust", {
      workspace_id,
      thread_id,
      kind: "worktree_hooks",
      content_sha256: shown?.content_sha256,
    }).catch(toastProblem);
  return (
    <div className="strip setup warn-strip">
      <Icon of={CircleAlert} size={14} />
      <span className="grow" role="status">
        The project wants to set this worktree up and is not trusted to. The agent works in it as it is.
      </span>
      <Button
        small
        off={shown ? undefined : "What would run is not known yet"}
        busy={busy}
        onClick={() => work(trust)}
      >
        Trust and run
      </Button>
      {shown && <pre className="out">{linesOf(shown.content).join("\n")}</pre>}
    </div>
  );
}

interface Hooks {
  readonly symlinks?: readonly { readonly source?: string; readonly target?: string }[];
  readonly postSetupCommands?: readonly { readonly command?: string }[];
  readonly initialPrompt?: string;
}

function linesOf(content: string): string[] {
  const { symlinks = [], postSetupCommands = [], initialPrompt } = JSON.parse(content) as Hooks;
  return [
    ...symlinks.flatMap(({ source = "", target = source }) => plainly(`link ${target} to ${source}`)),
    ...postSetupCommands.flatMap(({ command = "" }) => plainly(`run ${command}`)),
    ...(initialPrompt ? plainly(`ask ${initialPrompt}`) : []),
  ];
}

/** A further line of one thing must not pass for another thing, and nothing in it may be unseen. */
function plainly(text: string): string[] {
  return text.split(/\n|\u2028|\u2029/).map((line, at) => `${at === 0 ? "" : "> "}${visibleExactly(line)}`);
}
