import { isKind } from "../../base/index.js";
import { first, type Note, type Unit } from "../unit.js";

const RETRY_MS = 100;
const LIMIT_MS = 5_000;

/**
 * Whether a commit took place whose answer was lost with its connection. Its last notification tells: what was committed
 * must be told, and its writer must not believe that it failed. Gives up, and says no, when the server stays away.
 */
export async function tookPlace(
  notes: readonly Note[],
  run: (unit: () => Unit<boolean>) => Promise<boolean>,
): Promise<boolean> {
  const last = notes.at(-1);
  if (!last) return false;
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    try {
      return await run(() => isLogged(last));
    } catch (error) {
      if (!isKind(error, "store.unavailable") || performance.now() > deadline) return false;
    }
    await new Promise((next) => setTimeout(next, RETRY_MS));
  }
}

function* isLogged({ workspace_id, seq, params }: Note): Unit<boolean> {
  // Waits for the transaction in question, should the server still be at it.
  yield* first(({ db }) =>
    db.selectFrom("workspace").select("id").where("id", "=", workspace_id).forUpdate(),
  );
  const row = yield* first(({ db }) =>
    db
      .selectFrom("notification")
      .select("params")
      .where("workspace_id", "=", workspace_id)
      .where("seq", "=", seq),
  );
  return row?.params === params;
}
