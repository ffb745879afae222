// Loaded into a gateway before anything else: now and then it collects what nobody needs any more, and notes what is left.
// Without that, memory that was given back looks like memory that is held, for minutes.
import { appendFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc");
const { HEDDLE_LOAD_MEMORY: file, HEDDLE_LOAD_EVERY_MS: every } = process.env;
setInterval(() => {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  appendFileSync(file, `${JSON.stringify({ time: Date.now(), held: heapUsed + external, resident: rss })}\n`);
}, Number(every)).unref();
