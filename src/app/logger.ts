import pino from "pino";
import type { Log } from "../gateway/index.js";

const SECRET_KEYS = ["token", "authorization", "cookie", "password", "connectionString"];

/** JSON lines on standard error. What could be a secret is blotted out, wherever it stands. */
export function createLogger(level: string): Log {
  const paths = SECRET_KEYS.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]);
  const options = { level, redact: { paths, censor: "[secret]" }, base: { pid: process.pid } };
  return pino(options, pino.destination({ dest: 2, sync: true }));
}
