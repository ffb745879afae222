import { dataDirectory } from "../../connect/data-dir.js";
import { runningOn } from "../../connect/reach.js";
import { cliError } from "../../errors.js";
import { openBrowser } from "../../open-browser.js";
import { print, printJson } from "../../output.js";

interface OpenOptions {
  readonly data?: string;
  readonly open: boolean;
  readonly json?: true;
}

/** Asks the running gateway for an address that signs a browser in, and opens it. */
export async function open(options: OpenOptions): Promise<void> {
  const dataDir = dataDirectory(options.data, process.env);
  const running = runningOn(dataDir);
  if (!running) {
    throw cliError(
      { kind: "gateway.not_running", data_dir: dataDir },
      `No gateway is running on ${dataDir}. Start one with \`heddle\`; it opens its page by itself.`,
    );
  }
  const url = `${running.url}${await newVisit(running)}`;
  if (options.json) printJson({ url });
  else print(url);
  if (options.open && !options.json) await openBrowser(url);
}

async function newVisit({ url, token }: { url: string; token: string }): Promise<string> {
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/visits`, { method: "POST", headers });
  const { path, error } = (await answer.json()) as { path?: string; error?: string };
  if (path === undefined) throw new Error(`The gateway gave no address: ${error ?? answer.status}`);
  return path;
}
