import { existsSync } from "node:fs";
import { join } from "node:path";
import type { GatewayAddress } from "../../../app/index.js";
import { readAddress } from "../../connect/data-dir.js";
import { connectTo } from "../../connect/reach.js";
import { count } from "../../output.js";
import type { Check } from "./check.js";

const name = "agents";

/** Asks the running gateway; with none, reads the configuration as the next start will. What nobody hears is told either way. */
export async function checkAgents(dataDir: string, isRunning: boolean): Promise<Check[]> {
  const address = isRunning ? readAddress(dataDir) : undefined;
  return address ? askGateway(address) : readFile(dataDir);
}

async function askGateway(address: GatewayAddress): Promise<Check[]> {
  const link = await connectTo(address);
  try {
    const { data, problem, config_file } = await link.client.call("agent/list", { include_hidden: true });
    const { warningsInUse } = await import("../../../app/index.js");
    const warnings = config_file === undefined ? [] : warningsInUse(config_file);
    return [verdictOn(data, problem), ...warnings.map(unheard)];
  } finally {
    await link.close();
  }
}

function verdictOn(agents: readonly { available: boolean }[], problem: string | undefined): Check {
  if (problem !== undefined) {
    const advice = "correct the configuration: it is read again by itself";
    return { name, verdict: "warning", detail: problem, advice };
  }
  const usable = agents.filter(({ available }) => available).length;
  const detail = `${count(agents.length, "agent")}, ${usable} of them available`;
  if (usable > 0) return { name, verdict: "ok", detail };
  return { name, verdict: "warning", detail, advice: "`heddle agents` says what each of them needs" };
}

async function readFile(dataDir: string): Promise<Check[]> {
  if (!existsSync(join(dataDir, "heddle.config.json"))) {
    return [{ name, verdict: "none", detail: "no heddle.config.json; there is an agent for what is found" }];
  }
  const { checkConfigFile } = await import("../../../app/index.js");
  const { agents, warnings, problem } = checkConfigFile(dataDir, process.env);
  if (problem !== undefined) {
    return [{ name, verdict: "broken", detail: problem, advice: "no gateway starts with it as it is" }];
  }
  const detail = `heddle.config.json names ${count(agents, "agent")}`;
  return [{ name, verdict: "ok", detail }, ...warnings.map(unheard)];
}

/** A limit under a misspelt name limits nothing. */
function unheard(warning: string): Check {
  return { name, verdict: "warning", detail: warning, advice: "nothing of it counts as it stands" };
}
