/** Opens a store as a user who is not root, writes once, and prints what came of it: `ok`, or the error. */
import { sqliteDriver } from "../../../src/base/index.js";
import { openStore } from "../../../src/store/index.js";
import { addWorkspace } from "../support/rows.js";

const NOBODY = 65_534;
const [location = ""] = process.argv.slice(2);

// Loaded while the project's files can still be read.
sqliteDriver().open(":memory:").close();
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

try {
  const store = await openStore(location);
  await store.write({ key: "ws" }, () => addWorkspace("ws_written"));
  await store.close();
  process.stdout.write(JSON.stringify({ ok: true }));
} catch (error) {
  const { kind, data, message } = error as { kind?: string; data?: unknown; message: string };
  process.stdout.write(JSON.stringify({ kind, data, message }));
}
