import { join } from "node:path";
import pg from "pg";
import { sqliteDriver } from "../../src/base/index.js";
import type { StorePlace } from "./stores.js";

/** Keeps a store from being written, as another program could: changes wait until it is released. */
export async function holdStore({
  store,
  dataDir,
}: Pick<StorePlace, "store" | "dataDir">): Promise<() => Promise<void>> {
  if (store === "sqlite") {
    const handle = sqliteDriver().open(join(dataDir, "heddle.db"));
    // A gateway in another process may be writing at this very moment.
    handle.exec("pragma busy_timeout = 5000");
    handle.exec("begin immediate");
    let isHeld = true;
    return async () => {
      // A driver may refuse what is closed already.
      if (isHeld) handle.close();
      isHeld = false;
    };
  }
  const client = new pg.Client(store);
  await client.connect();
  await client.query("begin");
  await client.query("select id from workspace for update");
  return () => client.end();
}
