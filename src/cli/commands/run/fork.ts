import type { WorkspaceOptions } from "../../options.js";
import { count, note, paintErr, print, printJson, visible } from "../../output.js";
import { NO_HURRY, withSession } from "../../session.js";
import { onThread } from "../thread/of-thread.js";
import { assertAgent } from "./choose-thread.js";
import { type PromptOptions, putPrompt, readPrompt } from "./prompt-option.js";

interface ForkOptions extends WorkspaceOptions, PromptOptions {
  readonly message?: string;
  readonly agent?: string;
  readonly model?: string;
}

/** A new thread that begins like another one. Its id alone goes to standard output, for whoever goes on with it. */
export async function fork(id: string, options: ForkOptions): Promise<void> {
  const prompt = await readPrompt(options);
  const { message, agent, model } = options;
  const result = await withSession(options, async (session) => {
    const { thread } = await onThread(session, id, (named) => session.call("thread/get", named));
    const { workspace_id } = thread;
    await assertAgent(session, workspace_id, agent);
    const refs = prompt === undefined ? undefined : [await putPrompt(session, prompt)];
    const config = {
      ...(model !== undefined && { model }),
      ...(refs && { default_prompt_refs: refs }),
    };
    const params = {
      ...(message !== undefined && { message_id: message }),
      ...(agent !== undefined && { agent_id: agent }),
      ...(Object.keys(config).length > 0 && { config }),
    };
    return session.call("thread/fork", { workspace_id, thread_id: id, ...params }, NO_HURRY);
  });
  if (options.json) return printJson(result);
  const { thread } = result;
  print(thread.id);
  if (process.stderr.isTTY !== true) return;
  note(
    paintErr.dim(
      `${visible(thread.title)}, ${count(thread.message_count, "message")}. Go on with it: heddle send --thread ${thread.id} …`,
    ),
  );
}
