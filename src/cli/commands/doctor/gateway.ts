import type { GatewayAddress } from "../../../app/index.js";
import { VERSION } from "../../../base/index.js";
import { readAddress } from "../../connect/data-dir.js";
import { connectTo, isFree } from "../../connect/reach.js";
import type { Check } from "./check.js";

const name = "gateway";

/** Whether a gateway runs on the data directory, and its address if it answers. */
export async function checkGateway(dir: string): Promise<{ check: Check; url?: string }> {
  const address = readAddress(dir);
  if (!address) {
    return { check: { name, verdict: "none", detail: "none is running; commands start a private one" } };
  }
  const { url, pid } = address;
  if (isFree(dir)) return { check: gone(pid) };
  try {
    const link = await connectTo(address);
    await link.close();
    return { url, check: running(url, pid, link.version) };
  } catch (error) {
    return { check: silent(address, error as Error) };
  }
}

function running(url: string, pid: number, version: string): Check {
  const detail = `${url}, process ${pid}, Heddle ${version}`;
  if (version === VERSION) return { name, verdict: "ok", detail };
  const advice = `this command is Heddle ${VERSION}: start the gateway again to use it`;
  return { name, verdict: "warning", detail, advice };
}

function gone(pid: number): Check {
  const detail = `process ${pid} is gone and left gateway.json behind`;
  return { name, verdict: "warning", detail, advice: "nothing to do: the next start replaces it" };
}

function silent({ url, pid }: GatewayAddress, error: Error): Check {
  const detail = `process ${pid} is there, but ${url} does not answer: ${error.message}`;
  return { name, verdict: "broken", detail, advice: `stop process ${pid} and start \`heddle serve\` again` };
}
