import { redactor } from "../../http/redact.js";
import type { ProgramConfig } from "../config.js";
import { ProgramProblem } from "../program.js";

const MOST_WORDS = 1_000;
const SIGNED_OUT =
  /not logged in|please run \/login|invalid api key|authentication[_ ](failed|error)|failed to authenticate|oauth token/i;

/** Says what the program says: bounded, on one line, without a key. */
export type Say = (text: string) => string;

export function sayer({ env }: ProgramConfig, token: string | undefined): Say {
  const secrets = Object.entries(env).filter(([name]) => /key|token|secret|password/i.test(name));
  const redact = redactor([token, ...secrets.map(([, value]) => value)]);
  return (text) => {
    const line = redact(text)
      .toWellFormed()
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim();
    return line.length > MOST_WORDS ? `${line.slice(0, MOST_WORDS).toWellFormed()}…` : line;
  };
}

/** It has ended, though nobody wanted it to. */
export function exitProblem(problem: string | undefined, lastWords: string): ProgramProblem {
  const words = lastWords === "" ? "" : `. Its last words: ${lastWords}`;
  return new ProgramProblem("program.exited", `${problem ?? "was stopped"}${words}`);
}

/** It has told what went wrong, and perhaps which kind of failure it takes it for. */
export function toldProblem(words: string, kind?: unknown): ProgramProblem {
  if (kind !== "authentication_failed" && !SIGNED_OUT.test(words))
    return new ProgramProblem("program.failed", words === "" ? "failed" : words);
  const way = "Run `claude` in a terminal and sign in with `/login`, or give it an `ANTHROPIC_API_KEY`";
  return new ProgramProblem("program.signed_out", `is not signed in: ${words.replace(/\.$/, "")}. ${way}`);
}

export function isLost(words: string): boolean {
  return /no conversation found/i.test(words);
}
