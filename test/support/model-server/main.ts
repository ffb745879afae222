/** The model server as a program: `main.ts SCRIPT.json [PORT]`. It prints its address as JSON and ends with its input. */
import { readFileSync } from "node:fs";
import { serverTurnSchema } from "./script.js";
import { startModelServer } from "./server.js";

const [file, port] = process.argv.slice(2);
if (file === undefined) throw new Error("which script? main.ts SCRIPT.json [PORT]");
const turns = serverTurnSchema.array().parse(JSON.parse(readFileSync(file, "utf8")));
const server = await startModelServer(turns, Number(port ?? 0));
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
process.stdin.on("end", () => void server.close()).resume();
