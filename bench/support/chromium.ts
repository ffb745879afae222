import { readFileSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";
import type { Bench } from "../harness.js";
import type { GatewayProcess } from "./child.js";

const ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"];

/** Undefined where there is none, which is told with the rows. */
export async function openChromium(bench: Bench): Promise<Browser | undefined> {
  const executablePath = installedPath();
  if (executablePath === undefined) {
    bench.leftOut.push("there is no Chromium: run `npm test` once, which installs it");
    return undefined;
  }
  const opened = await chromium.launch({ executablePath, args: ARGS });
  bench.onEnd(() => opened.close());
  return opened;
}

/** The address of a path of the page, with a code that signs one browser in. */
export async function signedIn({ url, token }: GatewayProcess, path: string): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` };
  const visit = (await (await fetch(`${url}/visits`, { method: "POST", headers })).json()) as {
    path: string;
  };
  return `${url}${path}${visit.path.slice(1)}`;
}

function installedPath(): string | undefined {
  try {
    return JSON.parse(readFileSync(".cache/services.json", "utf8")).chromium.path;
  } catch {
    return undefined;
  }
}
