import type { Thread } from "../../../protocol/index.js";
import { Folders } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { NO_HURRY, type Session, withSession } from "../../session.js";
import { assertAgent } from "../run/choose-thread.js";
import { shownThread } from "./of-thread.js";
import { setupLines } from "./setup-text.js";
import { followSetup } from "./watch-setup.js";

interface StartOptions extends WorkspaceOptions {
  readonly title?: string;
  readonly folder?: string;
  readonly agent?: string;
  readonly worktree?: boolean;
  readonly wait: boolean;
}

export async function start(options: StartOptions): Promise<void> {
  const thread = await withSession(options, async (session) => {
    const workspace_id = (await session.workspace()).id;
    await assertAgent(session, workspace_id, options.agent);
    const setup = await followSetup(session, workspace_id, options);
    const { thread } = await session.call(
      "thread/start",
      await params(session, workspace_id, options),
      NO_HURRY,
    );
    if (!options.json) {
      tellStarted(thread);
      await tellWarnings(session, workspace_id);
    }
    if (thread.setup?.status !== "running") return thread;
    if (!options.wait && session.place !== "private") return thread;
    if (!options.wait && !options.json)
      note(paintErr.dim("No gateway is running that could go on with the set-up: waiting for its end."));
    return setup.ended(thread.id);
  });
  if (options.json) return printJson({ thread });
  tellSetup(thread);
}

async function params({ call }: Session, workspace_id: string, options: StartOptions) {
  const { title, folder, agent, worktree } = options;
  const found =
    folder === undefined
      ? undefined
      : new Folders((await call("thread/tree", { workspace_id })).folders).find(folder);
  return {
    workspace_id,
    ...(title !== undefined && { title }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(found && { folder_id: found.id }),
    ...(worktree !== undefined && { use_worktree: worktree }),
  };
}

function tellStarted(thread: Thread): void {
  print(`Started ${shownThread(thread)}`);
  const { worktree } = thread;
  if (worktree)
    print(`worktree  ${visible(worktree.path)}  ${paint.dim(`branch ${visible(worktree.branch)}`)}`);
}

/** What is wrong with the project's configuration concerns whoever works with it, not only those who ask for it. */
async function tellWarnings({ call }: Session, workspace_id: string): Promise<void> {
  const { warnings = [] } = await call("workspace/get", { workspace_id });
  for (const warning of warnings) note(paintErr.yellow(visible(warning)));
}

function tellSetup({ setup, id }: Thread): void {
  if (!setup) return;
  if (setup.status === "running") {
    note(paintErr.dim(`Its set-up goes on: \`heddle threads show ${id}\` tells how far it is.`));
    return;
  }
  if (setup.status === "untrusted") {
    note(
      paintErr.yellow("The project's worktree hooks are not trusted, so they were not run."),
      paintErr.dim(
        "`heddle trust` shows what they do and lets them run for the worktrees that are made after that.",
      ),
    );
    return;
  }
  const [verdict, ...more] = setupLines(setup, paintErr);
  note(`set-up    ${verdict}`, ...more.map((line) => `          ${line}`));
}
