import pino from "pino";
import type { Log } from "../gateway/index.js";

const SECRET_KEYS = ["token", "authorization", "cookie", "password", "connectionString"];

/** JSON lines on standard error. What could be a secret is blotted out, wherever it stands. */
export function createLogger(level: string): Log {
  const paths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  const options = {
    level,
    redact: { paths, censor: "[secret]" },
    base: { pid: process.pid },
    serializers: { err: describeError },
  };
  return pino(options, pino.destination({ dest: 2, sync: true }));
}

/** Of an error only what tells where and why: a database's own details quote the row, and with it what someone wrote. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, message, stack, cause } = error;
  const { code } = error as { code?: unknown };
  return {
    type: name,
    message,
    stack,
    ...((typeof code === "string" || typeof code === "number") && { code }),
    ...(cause instanceof Error && { cause: describeError(cause) }),
  };
}
