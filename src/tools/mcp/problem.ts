import { onOneLine } from "../../base/index.js";
import { clipped } from "../quoted.js";

const MOST_WORDS = 500;

/** Why a server can't be used, in words that complete "The MCP server x …". They hold nothing that was given in confidence. */
export class McpProblem extends Error {}

/** What is known of an error, without the words of libraries: those may hold an address with everything in it. */
export function problemOf(error: unknown, hide: (text: string) => string): string {
  const { name, code, message, status, cause } = look(error);
  if (error instanceof McpProblem) return clipped(hide(message), MOST_WORDS);
  if (code === "REQUEST_TIMEOUT") return "did not answer in time";
  if (code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED") return "closed the connection";
  if (status !== undefined) return ofStatus(status);
  // Said by the server itself: the code of a JSON-RPC error is a number.
  if (typeof code === "number") return `refused: ${onOneLine(clipped(hide(message), MOST_WORDS))}`;
  if (name === "ZodError" || code === "INVALID_RESULT") return "gave an answer that is not understood";
  const system = [code, look(cause).code].find(
    (word) => typeof word === "string" && /^(E[A-Z]+|UND_[A-Z_]+)$/.test(word),
  );
  return system === undefined
    ? "can't be talked to: it does not speak the protocol"
    : `can't be reached (${system})`;
}

function ofStatus(status: number): string {
  if (status === 401 || status === 403)
    return `does not let us in (HTTP ${status}): look at its headers in the configuration`;
  if (status >= 300 && status < 400)
    return `points to another address (HTTP ${status}), which is not followed: name that one in the configuration`;
  return `answered HTTP ${status}`;
}

interface Looked {
  readonly name: unknown;
  readonly code: unknown;
  readonly message: string;
  readonly status: number | undefined;
  readonly cause: unknown;
}

function look(error: unknown): Looked {
  const { name, code, message, status, data, cause } = (error ?? {}) as Record<string, unknown>;
  const told = status ?? (data as { status?: unknown } | undefined)?.status;
  return {
    name,
    code,
    message: typeof message === "string" ? message : "",
    status: typeof told === "number" ? told : undefined,
    cause,
  };
}
