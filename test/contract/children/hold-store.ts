/** Opens a store, says so, and keeps it until it is killed. */
import { openStore } from "../../../src/store/index.js";

const [location = ""] = process.argv.slice(2);
const store = await openStore(location);
await store.check();
process.stdout.write("open\n");
setInterval(() => {}, 60_000);
