import { onOneLine } from "../../base/index.js";
import { type Redact, redactor } from "../http/redact.js";
import type { WorkPlace } from "../provider.js";
import type { ProgramConfig } from "./config.js";

const MOST_WORDS = 1_000;
const TOO_DEEP = "[nested too deep to be shown]";

/** What a program gave, as JSON. */
export function jsonText(value: unknown): string {
  return writtenJson(value) ?? TOO_DEEP;
}

/** Undefined for what is nested too deep: what can be read at any depth can't be written at any. */
export function writtenJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return undefined;
  }
}

/** Takes out of any text what a program was given in confidence: programs like to repeat a wrong key. */
export function redactorFor({ env }: Pick<ProgramConfig, "env">, bridge: WorkPlace["bridge"]): Redact {
  return redactor([bridge?.token, ...secretsIn(env)]);
}

/** By their names: an environment holds more than secrets, and paths must stay readable. */
function secretsIn(env: NodeJS.ProcessEnv): (string | undefined)[] {
  return Object.entries(env).flatMap(([name, value]) =>
    /key|token|secret|passw|credential|auth/i.test(name) ? [value] : [],
  );
}

/** Says what a program says: bounded, on one line, without a secret. */
export type Say = (text: string) => string;

export function sayer(config: Pick<ProgramConfig, "env">, bridge: WorkPlace["bridge"]): Say {
  const redact = redactorFor(config, bridge);
  return (text) => {
    const line = onOneLine(redact(text));
    return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS).toWellFormed()}…` : line;
  };
}
