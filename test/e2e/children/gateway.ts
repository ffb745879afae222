/**
 * A gateway with two tools that leave a trace in a directory: `test_write` must not be repeated, `test_look` may be. Each
 * writes a line when it begins and one when it ends, and waits in between while a file of its name is there.
 */
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { startApp } from "../../../src/app/index.js";
import { defineTool } from "../../../src/tools/index.js";

const [dataDir = "", store = "", scratch = ""] = process.argv.slice(2);

function tracing(name: string, safeToRepeat: boolean) {
  return defineTool({
    name,
    description: "Leaves a trace.",
    parameters: z.strictObject({ id: z.string(), ms: z.number().optional() }),
    capabilities: ["tests.trace"],
    safeToRepeat,
    async run({ id, ms = 0 }, { signal }) {
      const trace = (word: string) => appendFileSync(join(scratch, `${name}.trace`), `${word} ${id}\n`);
      trace("begin");
      await sleep(ms);
      while (existsSync(join(scratch, `${name}.hold`)) && !signal.aborted) await sleep(5);
      trace("end");
      return { status: "completed", output: `traced ${id}` };
    },
  });
}

const tools = [tracing("test_write", false), tracing("test_look", true)];
const app = await startApp({ dataDir, store, logLevel: process.env.HEDDLE_LOG ?? "silent", tools });
const { url, port, token } = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ ready: true, url, port, token, pid: process.pid })}\n`);
// A test that ends half-way leaves nothing behind.
process.stdin.on("end", () => process.exit()).resume();
process.on("SIGTERM", () => void app.stop().then(() => process.exit(0)));
