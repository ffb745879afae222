import { type Problem, validate } from "../../../atsf/index.js";

/** What is wrong in a directory and in its worktrees, one after the other. */
export async function* problemsIn(places: readonly string[]): AsyncGenerator<Problem> {
  for (const place of places) yield* validate(place);
}
