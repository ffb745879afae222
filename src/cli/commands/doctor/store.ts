import { existsSync } from "node:fs";
import { join } from "node:path";
import { takeLock } from "../../../base/index.js";
import type { Inspection } from "../../../store/index.js";
import { readHolder } from "../../connect/holder.js";
import type { Check } from "./check.js";

const name = "store";

/** Asks a running gateway; with none, looks itself while nobody else can. */
export async function checkStore(dir: string, store: string, gatewayUrl: string | undefined): Promise<Check> {
  if (store !== "sqlite") return inspected(store);
  return gatewayUrl === undefined ? lookAtFile(dir) : askGateway(gatewayUrl);
}

async function askGateway(url: string): Promise<Check> {
  const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
  const { ready, kind } = (await answer.json()) as { ready: boolean; kind?: string };
  if (ready) return { name, verdict: "ok", detail: "the gateway reads it" };
  return {
    name,
    verdict: "broken",
    detail: `the gateway can't read it (${kind})`,
    advice: "see docs/errors.md",
  };
}

async function lookAtFile(dir: string): Promise<Check> {
  const file = join(dir, "heddle.db");
  if (!existsSync(file)) return { name, verdict: "none", detail: "none yet; the first start makes one" };
  const lock = takeLock(join(dir, "gateway.lock"));
  if (!lock) {
    const holder = readHolder(dir);
    const who = holder ? `\`${holder.command}\` (process ${holder.pid})` : "another process";
    return {
      name,
      verdict: "warning",
      detail: `in use by ${who}`,
      advice: "run `heddle doctor` again in a moment",
    };
  }
  try {
    return await inspected(file);
  } finally {
    lock.release();
  }
}

async function inspected(location: string): Promise<Check> {
  const { inspectStore, SCHEMA_VERSION } = await import("../../../store/index.js");
  return judge(await inspectStore(location), SCHEMA_VERSION);
}

function judge({ engine, schema, problems }: Inspection, known: number): Check {
  if (problems.length > 0) {
    const advice = "restore it from a backup";
    return { name, verdict: "broken", detail: `damaged: ${problems.join("; ")}`, advice };
  }
  if (schema > known) {
    const detail = `written by a newer Heddle (schema ${schema}; this one knows ${known})`;
    return { name, verdict: "broken", detail, advice: "update Heddle" };
  }
  const detail =
    schema === 0 ? `${engine}, not used by Heddle yet` : `${engine}, schema ${schema}, no damage found`;
  return { name, verdict: "ok", detail };
}
