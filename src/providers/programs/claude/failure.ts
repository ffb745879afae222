import { ProgramProblem } from "../program.js";

const SIGNED_OUT =
  /not logged in|please run \/login|invalid api key|authentication[_ ](failed|error)|failed to authenticate|oauth token/i;

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
