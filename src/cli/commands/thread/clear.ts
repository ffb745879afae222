import { confirm } from "../../confirm.js";
import type { WorkspaceOptions } from "../../options.js";
import { count, note, paintErr, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { onThread, tellThread } from "./of-thread.js";

export async function clear(id: string, options: WorkspaceOptions & { yes?: boolean }): Promise<void> {
  const { thread } = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("thread/get", named)),
  );
  // Asked outside of the session: a private gateway must not keep others out while a person thinks.
  await confirm(
    `Clear ${visible(thread.title)}? ${count(thread.message_count, "message")} would be put aside.`,
    options,
  );
  const { workspace_id } = thread;
  const result = await withSession(options, ({ call }) =>
    call("thread/clear", { workspace_id, thread_id: id }),
  );
  tellThread("Cleared", result, options);
  if (!options.json) {
    note(
      paintErr.dim(
        `For 30 days \`heddle threads unclear ${id}\` brings them back, until something is said in it.`,
      ),
    );
  }
}

export async function unclear(id: string, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("thread/unclear", named)),
  );
  tellThread("Brought back", result, options);
}
