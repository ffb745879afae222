import { dataDirectory } from "../../connect/data-dir.js";
import { checkAgents } from "./agents.js";
import type { Check, DoctorOptions } from "./check.js";
import { checkDataDirectory } from "./data-directory.js";
import { checkGateway } from "./gateway.js";
import { checkGit } from "./git.js";
import { checkProgramsHere } from "./programs.js";
import { checkNode, checkSqlite } from "./runtime.js";
import { checkSecrets } from "./secrets.js";
import { checkStore } from "./store.js";
import { checkWorkspaces } from "./workspaces.js";

/** Looks at everything a gateway needs, in the order in which one thing rests on another. */
export async function runChecks({ data, store }: DoctorOptions): Promise<Check[]> {
  const dataDir = dataDirectory(data, process.env);
  let url: string | undefined;
  const gateway = await survived("gateway", async () => {
    const found = await checkGateway(dataDir);
    url = found.url;
    return [found.check];
  });
  return [
    checkNode(),
    await checkSqlite(),
    await checkGit(),
    ...(await survived("data", () => [checkDataDirectory(dataDir)])),
    ...(await survived("token", () => checkSecrets(dataDir))),
    ...gateway,
    ...(await survived("store", async () => [await checkStore(dataDir, store, url)])),
    ...(await survived("agents", () => checkAgents(dataDir, url !== undefined))),
    ...(await survived("programs", checkProgramsHere)),
    ...(url === undefined ? [] : await survived("projects", () => checkWorkspaces(dataDir))),
  ];
}

/** A thing that can't even be looked at is broken, and the others are looked at all the same. */
async function survived(name: string, look: () => Check[] | Promise<Check[]>): Promise<Check[]> {
  try {
    return await look();
  } catch (error) {
    return [{ name, verdict: "broken", detail: (error as Error).message }];
  }
}
