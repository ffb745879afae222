import { isIP } from "node:net";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Whether a request was meant for this gateway and came from no other site. A page of another site can make a browser
 * send requests here, and with a name that it points at 127.0.0.1 even read the answers (DNS rebinding): the Host it
 * sends then is that name, and its Origin is that site.
 */
export function isForeign(host: string | undefined, origin: string | undefined, listening: string): boolean {
  // Compared as it is written: whatever a parser could read into a Host (a user, a trailing dot) is not ours.
  const name = host?.replace(/:\d{1,5}$/, "").toLowerCase();
  if (name === undefined || !isOurs(name, listening.toLowerCase())) return true;
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}

function isOurs(name: string, listening: string): boolean {
  if (LOOPBACK.has(name) || name === (listening.includes(":") ? `[${listening}]` : listening)) return true;
  // Listening everywhere was chosen by the user; then any address will do, but no name, which could be anyone's.
  const everywhere = listening === "0.0.0.0" || listening === "::";
  const address = /^\[(.+)\]$/.exec(name)?.[1] ?? name;
  return everywhere && isIP(address) === (address === name ? 4 : 6);
}
