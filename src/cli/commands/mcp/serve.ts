import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { eachLine } from "../../../client/node.js";
import type { WorkspaceOptions } from "../../options.js";
import { Address } from "./address.js";
import { namedWorkspace } from "./named-workspace.js";
import { Relay } from "./relay.js";

/** How long answers under way may still take when the client has closed its end. */
const LAST_ANSWERS_MS = 2_000;

/** Hands on what a client writes to the gateway, and what that answers to the client, until either is gone. */
export async function serveMcp(options: WorkspaceOptions): Promise<void> {
  const address = new Address(options);
  let workspace = options.workspace;
  // What is wrong with the command line, or with the data directory, is told before anybody is answered.
  const ready = address.find().then(async (place) => {
    if (workspace !== undefined) workspace = (await namedWorkspace(place, workspace)) ?? workspace;
  });
  const relay = new Relay({
    address: { find: () => ready.then(() => address.find()), lost: (place) => address.lost(place) },
    headers: () => placeHeaders(workspace),
    write: (message) => void process.stdout.write(`${JSON.stringify(message)}\n`),
  });
  let close = () => {};
  const ended = new Promise<void>((resolve) => {
    close = eachLine(process.stdin, (line) => relay.receive(line), resolve);
  });
  // A client that is gone reads nothing, and may not have closed our input.
  process.stdout.on("error", close);
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, close);
  try {
    await ready;
    await ended;
    await relay.end(LAST_ANSWERS_MS);
  } finally {
    // An open input would keep the process.
    process.stdin.destroy();
    await address.close();
  }
}

/** Where the client works. A header holds Latin-1 only, and a path may be anything. */
function placeHeaders(workspace: string | undefined): Record<string, string> {
  const directory = realPath(".");
  return {
    ...(directory !== undefined && { "X-Heddle-Directory": encodeURIComponent(directory) }),
    ...(workspace !== undefined && { "X-Heddle-Workspace": encodeURIComponent(named(workspace)) }),
  };
}

/** An id or a name as it is; what is written like a path as the path it is. */
function named(workspace: string): string {
  return /^\.|\//.test(workspace) ? (realPath(workspace) ?? resolve(workspace)) : workspace;
}

/** Links resolved, as the gateway does with a workspace's directory. Undefined when it is not there. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
