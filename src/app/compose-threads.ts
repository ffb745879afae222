import { Bus, type Clock, type MakeId } from "../base/index.js";
import type { Log } from "../gateway/index.js";
import { followFolders } from "../instructions/index.js";
import type { Store } from "../store/index.js";
import {
  endInterruptedSetups,
  Follower,
  finishRemovals,
  purgeThreads,
  removeUnmadeWorktrees,
  Setups,
  ThreadFiles,
  type ThreadsDeps,
  unmadeWorktrees,
  WordIndexer,
} from "../threads/index.js";

export interface ThreadParts {
  readonly deps: ThreadsDeps;
  readonly watching: Follower;
  /** What must be done before anyone can ask for anything. */
  begin(): Promise<void>;
  /** What can wait until requests are accepted. */
  settle(): Promise<void>;
  purge(): Promise<void>;
  close(): Promise<void>;
}

/** The files of threads, what follows them, and who knows of whom. */
export function composeThreads(given: {
  store: Store;
  clock: Clock;
  makeId: MakeId;
  dataDir: string;
  log: Log;
  firstLookMs: number;
  agents: ThreadsDeps["agents"];
  project: ThreadsDeps["project"];
  /** What commands of projects get of the environment. */
  childEnv: NodeJS.ProcessEnv;
}): ThreadParts {
  const { store, clock, makeId, dataDir, log } = given;
  const report = (error: unknown, what: string) => log.warn({ err: error }, what);
  const onWaiting = (dir: string) =>
    log.warn({ dir }, "waiting for another program that writes to this thread");
  const files = new ThreadFiles({ dataDir, clock, onWaiting });
  const words = new WordIndexer({ store, files, report });
  const deps: ThreadsDeps = {
    store,
    clock,
    makeId,
    follower: followFolders({ clock }),
    files,
    words,
    setups: new Setups(given.childEnv),
    agents: given.agents,
    project: given.project,
    live: new Bus(),
    report,
  };
  let unmade: readonly string[] = [];
  const watching = new Follower(deps, { firstLookMs: given.firstLookMs });
  return {
    deps,
    watching,
    async begin() {
      await endInterruptedSetups(deps);
      unmade = await removeUnmadeWorktrees(deps, await unmadeWorktrees(deps));
      await finishRemovals(deps);
    },
    async settle() {
      await watching.openAll();
      await removeUnmadeWorktrees(deps, unmade);
      await finishRemovals(deps);
    },
    purge: () => purgeThreads(deps),
    async close() {
      await deps.setups.close();
      await watching.close();
      await words.close();
      await files.close();
    },
  };
}
