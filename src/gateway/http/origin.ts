import { isIP } from "node:net";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Whether a request was meant for this gateway and came from no other site. A page of another site can make a browser
 * send requests here, and with a name that it points at 127.0.0.1 even read the answers (DNS rebinding): the Host it
 * sends then is that name, and its Origin is that site.
 */
export function isForeign(host: string | undefined, origin: string | undefined, listening: string): boolean {
  if (host === undefined) return true;
  const name = hostname(host);
  if (name === undefined || !isOurs(name, listening)) return true;
  return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;
}

function hostname(host: string): string | undefined {
  try {
    const url = new URL(`http://${host}`);
    // Anything but a bare host and port (a path, a user) is no Host header.
    return url.pathname === "/" && url.username === "" && url.search === "" ? url.hostname : undefined;
  } catch {
    return undefined;
  }
}

function isOurs(name: string, listening: string): boolean {
  if (LOOPBACK.has(name) || name === listening || name === `[${listening}]`) return true;
  // Listening everywhere was chosen by the user; then any address will do, but no name, which could be anyone's.
  const everywhere = listening === "0.0.0.0" || listening === "::";
  return everywhere && isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}
