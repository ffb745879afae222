import { basename } from "node:path";
import {
  createWorktree,
  type NewThread,
  type ProjectConfig,
  readGitHead,
  removeWorktree,
} from "../atsf/index.js";
import { Turns } from "../base/index.js";
import { ID_PREFIXES, type ParsedParams, type Result, type Thread } from "../protocol/index.js";
import { folders, type WorkspaceRow } from "../store/index.js";
import { type Call, requireFolder } from "../tree/index.js";
import { preferredAgent } from "./default-agent.js";
import type { ThreadsDeps } from "./deps.js";
import { reflect } from "./files/reflect.js";
import { requireDirectory } from "./locate.js";
import { noteMaking } from "./making-worktree.js";
import { startSetup } from "./setup.js";
import { DEFAULT_TITLE } from "./text.js";
import { readHashedConfig } from "./trust.js";

type StartParams = ParsedParams<"thread/start">;

/** Makes a thread: its files first, in the project or in a worktree of its own, then its place in the index. */
export async function startThread(
  deps: ThreadsDeps,
  params: StartParams,
  call: Call,
  own: { readonly parentThreadId?: string } = {},
): Promise<Result<"thread/start">> {
  const { workspace, root } = await requireDirectory(deps, params.workspace_id);
  const { config, configSha256 } = await readHashedConfig(root);
  const thread_id = deps.makeId(ID_PREFIXES.thread);
  const folder = await folderNames(deps, params);
  const place = await makePlace(deps, {
    workspace,
    root,
    thread_id,
    worktree: await wantsWorktree(params, config, root),
  });
  const files = { workspace, thread_id, root: place.root, folder_id: params.folder_id ?? null };
  const thread = await deps.files.turn(workspace.id, thread_id, async () => {
    try {
      const given = {
        threadId: thread_id,
        ...contentOf(deps, params, config, { ...own, folder }),
        ...place.thread,
      };
      await (await deps.files.project(place.root)).create(given);
      return (await reflect(deps, files, call)) as Thread;
    } catch (error) {
      await undo(deps, files, { main: root, worktree: place.worktree });
      throw error;
    } finally {
      await place.stands?.();
    }
  });
  if (!place.worktree) return { thread };
  const { repository } = place;
  return { thread: await startSetup(deps, { ...files, repository, config, configSha256, call }) };
}

function contentOf(
  deps: ThreadsDeps,
  params: StartParams,
  config: ProjectConfig | undefined,
  { folder, parentThreadId }: { readonly folder: readonly string[]; readonly parentThreadId?: string },
): Omit<NewThread, "threadId"> {
  const agent_id = params.agent_id ?? preferredAgent(deps.agents.in(params.workspace_id), config);
  const settings = Object.entries(params.config ?? {}).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const heddle = {
    updatedAt: new Date(deps.clock.now()).toISOString(),
    ...(params.title !== undefined && { named: true }),
    ...(folder.length > 0 && { folder, folderId: params.folder_id }),
    ...(settings.length > 0 && { config: Object.fromEntries(settings) }),
    ...(parentThreadId !== undefined && { parentThreadId }),
  };
  return {
    title: params.title ?? DEFAULT_TITLE,
    agent: {
      id: agent_id,
      name: deps.agents.in(params.workspace_id).nameOf(agent_id) ?? agent_id,
      protocol: "custom",
    },
    metadata: { heddle },
  };
}

/** A project's own wish counts only in git: elsewhere there are no worktrees. */
async function wantsWorktree(
  { use_worktree }: StartParams,
  config: ProjectConfig | undefined,
  root: string,
): Promise<boolean> {
  if (use_worktree !== undefined) return use_worktree;
  return config?.defaults?.useWorktree === true && readGitHead(root) !== undefined;
}

interface MadePlace {
  readonly root: string;
  readonly worktree?: { readonly path: string; readonly branch: string };
  /** Says that its thread stands in it, or that it is gone again: a killed gateway has left neither half-made. */
  readonly stands?: () => Promise<void>;
  /** The root of the project's checkout: hooks name what they link relative to it. */
  readonly repository: string;
  readonly thread: Pick<NewThread, "workingDir" | "context">;
}

/** Git gives up when it meets a worktree that another git is only just making in the same repository. */
const making = new Turns();

/** If git can't make the worktree there is no thread: one in the project instead would surprise its user. */
async function makePlace(
  deps: ThreadsDeps,
  given: { workspace: WorkspaceRow; root: string; thread_id: string; worktree: boolean },
): Promise<MadePlace> {
  const { root, workspace, thread_id } = given;
  const head = readGitHead(root);
  const git = {
    ...(head?.branch && { gitBranch: head.branch }),
    ...(head?.commit && { gitCommit: head.commit }),
  };
  const relativeDir = head?.relativeDir ?? ".";
  const repository = head?.top ?? root;
  if (!given.worktree) {
    return { root, repository, thread: { workingDir: root, context: { relativeDir, ...git } } };
  }
  const directory = deps.files.worktreesDir(basename(root) || workspace.id);
  const wanted = { project: root, directory, threadId: thread_id };
  const stands = await noteMaking(deps, wanted);
  const made = await making
    .run(head?.top ?? root, () => createWorktree(wanted))
    .catch(async (error) => {
      await stands();
      throw error;
    });
  const worktree = { path: made.path, branch: made.branch };
  const context = { relativeDir, ...git, gitCommit: made.commit, worktree };
  return { root: made.path, repository, worktree, stands, thread: { workingDir: made.workingDir, context } };
}

async function undo(
  deps: ThreadsDeps,
  files: { root: string; thread_id: string },
  { main, worktree }: { main: string; worktree: MadePlace["worktree"] },
): Promise<void> {
  try {
    await (await deps.files.project(files.root)).remove(files.thread_id).catch(() => {});
    if (!worktree) return;
    await deps.files.forget(worktree.path);
    await removeWorktree({ project: main, path: worktree.path, force: true });
  } catch (error) {
    deps.report(error, "what was made for a thread that could not be started is still there");
  }
}

async function folderNames(deps: ThreadsDeps, { workspace_id, folder_id }: StartParams): Promise<string[]> {
  if (folder_id === undefined) return [];
  return deps.store.read(function* () {
    yield* requireFolder(workspace_id, folder_id);
    return (yield* folders.folderPath({ id: folder_id })).map(({ name }) => name);
  });
}
