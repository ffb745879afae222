import { pathToFileURL } from "node:url";
import type { Tamper } from "./client.js";

const NOTIFICATION = '{"jsonrpc":"2.0","method":"';

/** A client to which one durable notification never comes. */
export function losing(which: number): Tamper {
  let count = 0;
  return (text) => {
    const counts =
      text.toString("latin1", 0, NOTIFICATION.length) === NOTIFICATION && text.includes('"seq":');
    return counts && ++count === which ? undefined : text;
  };
}

/** A client that is refused with another code. */
export function withCode(code: number): Tamper {
  return (text) =>
    text.includes('"error":{') ? Buffer.from(text.toString().replace("-32001", `${code}`)) : text;
}

/** A gateway that keeps more and more. */
export const leakingEnv = { NODE_OPTIONS: `--import ${pathToFileURL("test/load/leak.mjs").href}` };
