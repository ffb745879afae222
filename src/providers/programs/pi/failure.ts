import { redactor } from "../../http/redact.js";
import type { ProgramConfig } from "../config.js";
import { ProgramProblem } from "../program.js";

const MOST_WORDS = 1_000;
const SIGNED_OUT =
  /\b401\b|no api key|no models available|no model selected|authentication failed|invalid.{0,3}api.?key|\/login/i;

/** Says what pi says, without what must not be said. */
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
  const words = `${problem ?? "was ended"}${lastWords === "" ? "" : `: ${lastWords}`}`;
  return isSignedOut(lastWords) ? signedOut(words) : new ProgramProblem("program.exited", words);
}

/** It has told what went wrong. */
export function toldProblem(words: string): ProgramProblem {
  return isSignedOut(words) ? signedOut(words) : new ProgramProblem("program.failed", words || "failed");
}

function isSignedOut(words: string): boolean {
  return SIGNED_OUT.test(words);
}

function signedOut(words: string): ProgramProblem {
  const way = "Run `pi` in a terminal and sign in with `/login`, or give it the key of its provider";
  return new ProgramProblem("program.signed_out", `${words.replace(/\.$/, "")}. ${way}`);
}
