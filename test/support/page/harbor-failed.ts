import { HOOK_FAILS_AT } from "./harbor-config.js";
import { type Desk, tokens, toolCall } from "./harbor-desk.js";

const ASKED = "Bring the bundle below 150 KB. Start with what the editor pulls in.";

/** A thread with a command that failed, a tool that was refused, and a run that never began. */
export async function bundle(desk: Desk, folder_id: string): Promise<string> {
  const { id } = await desk.thread({ folder_id, agent_id: "claude-code", title: "Bundle over 150 KB" });
  desk.script(
    ASKED,
    [
      toolCall("call_build", "bash", { command: "npm run build -- --report" }),
      toolCall("call_delete", "lists_delete", { list: "Old bundles" }),
      tokens(3_120, 64),
    ],
    [
      {
        text: "The build stops on a file that was removed in 4.1. `lists_delete` is not among the tools I may use, so the old list stays.",
      },
      tokens(3_420, 52),
    ],
  );
  await desk.ended((await desk.start(id, ASKED)).id);
  await desk.ended((await desk.start(id, HOOK_FAILS_AT)).id);
  return id;
}
