import { type HookProgress, hooksContent, type ProjectConfig, runHooks } from "../atsf/index.js";
import { unixSeconds } from "../base/index.js";
import type { Thread, ThreadSetup } from "../protocol/index.js";
import { notifications, threadFiles, threads, type Unit, workspaces } from "../store/index.js";
import { type Call, threadToWire, treeChanged } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import type { FilesOf } from "./files/reflect.js";
import { areHooksTrusted } from "./trust.js";

export interface SetupGiven extends FilesOf {
  /** The root of the project's own checkout. */
  readonly repository: string;
  /** The project's own configuration rules, not the worktree's. */
  readonly config: ProjectConfig | undefined;
  /** Of the file it was read from. The file may be another by now, and trust in that one says nothing. */
  readonly configSha256: string | undefined;
  readonly call: Call;
}

/**
 * Begins to set a new worktree up and answers the thread as it is then. Hooks come from a file of the repository: they
 * run only when the user has trusted exactly these. Nothing here prevents the thread.
 */
export async function startSetup(deps: ThreadsDeps, given: SetupGiven): Promise<Thread> {
  const content = hooksContent(given.config);
  const { origin } = given.call;
  if (!content) return (await writeSetup(deps, given, {})) as Thread;
  const { sha256: content_sha256 } = content;
  const hashes = [content_sha256, ...(given.configSha256 === undefined ? [] : [given.configSha256])];
  if (!(await areHooksTrusted(deps, given.workspace.id, hashes))) {
    const reason = "The project's worktree hooks are not trusted, so they were not run.";
    const setup: ThreadSetup = { status: "untrusted", content_sha256 };
    const note = { status: "untrusted", reason, content_sha256 };
    return (await writeSetup(deps, given, { setup, note, origin })) as Thread;
  }
  const initial_prompt = given.config?.worktreeHooks?.initialPrompt;
  const running: ThreadSetup = { status: "running", ...(initial_prompt !== undefined && { initial_prompt }) };
  const thread = await writeSetup(deps, given, { setup: running, note: { status: "running" }, origin });
  deps.setups.add(
    `${given.workspace.id}/${given.thread_id}`,
    carryOut(deps, given, running).catch((error) =>
      deps.report(error, "a worktree's set-up could not be recorded"),
    ),
  );
  return thread as Thread;
}

async function carryOut(deps: ThreadsDeps, given: SetupGiven, running: ThreadSetup): Promise<void> {
  let told = Promise.resolve<unknown>(undefined);
  const tell = ({ step, of, label, status, output }: HookProgress) => {
    const note = { status: "running", step, of, label, ...(output && { output }), ...stepReason(status) };
    told = told.then(() => writeSetup(deps, given, { note })).catch(() => {});
  };
  const { ok, steps } = await runHooks({
    hooks: given.config?.worktreeHooks,
    repository: given.repository,
    worktree: given.root,
    onProgress: tell,
    signal: deps.setups.signal,
    env: deps.setups.env,
  });
  await told;
  const status = deps.setups.signal.aborted ? "interrupted" : ok ? "done" : "failed";
  const listed = steps.map(({ label, status: end, reason, output }) => ({
    label,
    status: end,
    ...(reason !== undefined && { reason }),
    ...(output && { output: output.slice(-OUTPUT_CHARS) }),
  }));
  await writeSetup(deps, given, { setup: { ...running, status, steps: listed }, note: { status } });
}

const OUTPUT_CHARS = 4_096;

function stepReason(status: HookProgress["status"]): { reason?: string } {
  return status === "running" || status === "done" ? {} : { reason: status };
}

/** Keeps how far the set-up is and tells of it, in one commit. Without a note only the thread is read. */
async function writeSetup(
  deps: ThreadsDeps,
  { workspace, thread_id }: Pick<FilesOf, "workspace" | "thread_id">,
  { setup, note, origin }: { setup?: ThreadSetup; note?: object; origin?: unknown },
): Promise<Thread | undefined> {
  const workspace_id = workspace.id;
  return deps.store.write({ key: workspace_id, origin }, function* () {
    if (!(yield* workspaces.lockWorkspace(workspace_id))) return undefined;
    const row = yield* threadFiles.findIndexed(workspace_id, thread_id);
    if (!row) return undefined;
    const changed = setup && { setup: JSON.stringify(setup) };
    if (changed) yield* threads.updateThread(workspace_id, thread_id, changed);
    // A thread in the bin may come back: it must not say for ever that it is being set up. Nobody is told of it.
    if (row.deleted_at !== null) return undefined;
    const thread = threadToWire({ ...row, ...changed });
    yield* announceSetup(deps, thread, note, changed !== undefined);
    return thread;
  });
}

function* announceSetup(
  deps: ThreadsDeps,
  thread: Thread,
  note: object | undefined,
  changed: boolean,
): Unit<void> {
  const { workspace_id, id: thread_id } = thread;
  yield* notifications.announce(workspace_id, unixSeconds(deps.clock), [
    ...(note ? [{ method: "thread/setup", params: { workspace_id, thread_id, ...note } }] : []),
    ...(changed
      ? [{ method: "thread/changed", params: { thread } }, treeChanged(workspace_id, { threads: [thread] })]
      : []),
  ]);
}

/** A gateway that was killed can't say so itself: nothing says "running" for ever. */
export async function endInterruptedSetups(deps: ThreadsDeps): Promise<void> {
  const rows = await deps.store.read(() => threadFiles.runningSetups());
  for (const { workspace_id, id, setup } of rows) {
    const interrupted: ThreadSetup = { ...JSON.parse(setup ?? "{}"), status: "interrupted" };
    const of = { workspace: { id: workspace_id, root_path: null }, thread_id: id };
    await writeSetup(deps, of, { setup: interrupted, note: { status: "interrupted" } });
  }
}
