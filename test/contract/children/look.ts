/** Runs one statement on a store's database from a process of its own and prints the rows as JSON. */
import { runSql } from "../support/stage.js";

const [location = "", statement = ""] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await runSql(location, statement)));
