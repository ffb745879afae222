/**
 * Writes to a store for ever, eight units at a time, and prints the id of each unit once it is written. A unit is a
 * folder with a document, its revision and a notification: all or nothing.
 */
import { writeSync } from "node:fs";
import {
  agentsDocs,
  folders,
  notifications,
  openStore,
  type Unit,
  workspaces,
} from "../../../src/store/index.js";
import { docRow, folderRow, revisionRow, workspaceRow } from "../support/rows.js";

const [location = "", prefix = ""] = process.argv.slice(2);

function* unit(id: string): Unit<void> {
  const doc = docRow("ws", `agd_${id}`, { folder_id: `fld_${id}`, content: id.repeat(100) });
  yield* workspaces.lockWorkspace("ws");
  yield* folders.insertFolder(folderRow("ws", `fld_${id}`));
  yield* agentsDocs.insertDoc(doc);
  yield* agentsDocs.insertRevision(revisionRow(doc.id, 1, { content: doc.content }));
  yield* notifications.announce("ws", 1, [{ method: "thread/tree/changed", params: { id } }]);
}

const store = await openStore(location);
await store.write({ key: "ws" }, function* () {
  if (!(yield* workspaces.findWorkspace("ws"))) yield* workspaces.insertWorkspace(workspaceRow("ws"));
});

async function writer(name: string): Promise<never> {
  for (let n = 0; ; n++) {
    const id = `${prefix}_${name}_${n}`;
    await store.write({ key: "ws" }, () => unit(id));
    writeSync(1, `${id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, (_, i) => writer(String(i))));
