import { ProgramProblem } from "../program.js";

const SIGNED_OUT =
  /\b401\b|no api key|no models available|no model selected|authentication failed|invalid.{0,3}api.?key|\/login/i;

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
