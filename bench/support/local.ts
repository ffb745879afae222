import { join } from "node:path";
import type { Store } from "../../src/store/index.js";
import type { TreeDeps } from "../../src/tree/index.js";
import type { Bench } from "../harness.js";
import { built } from "./built.js";

/** The modules over a data directory, within this process. */
export async function openLocal(bench: Bench, dataDir: string): Promise<TreeDeps> {
  const { base, instructions, store: stores } = await built();
  const store: Store = await stores.openStore(databaseFile(dataDir));
  bench.onEnd(() => store.close());
  const deps = { store, clock: base.systemClock, makeId: base.idMaker(base.systemClock) };
  return { ...deps, follower: instructions.followFolders(deps) };
}

export function databaseFile(dataDir: string): string {
  return join(dataDir, "heddle.db");
}
