/** A gateway with tools that leave a trace: `gateway.ts DATA STORE DIRECTORY`. */
import { startApp } from "../../../src/app/index.js";
import { tracingTools } from "../../support/tracing-tools.js";

const [dataDir = "", store = "", directory = ""] = process.argv.slice(2);
const logLevel = process.env.HEDDLE_LOG ?? "silent";
const app = await startApp({ dataDir, store, logLevel, tools: tracingTools(directory) });
const { url, port, token } = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ ready: true, url, port, token, pid: process.pid })}\n`);
// A test that ends half-way leaves nothing behind.
process.stdin.on("end", () => process.exit()).resume();
