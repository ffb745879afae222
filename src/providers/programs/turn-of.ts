import { sha256 } from "../../base/index.js";
import { isOfSystem, type PromptMessage, textOf } from "../prompt-message.js";
import { OWN_MODEL } from "../provider.js";
import type { Turn, WorkRequest } from "./program.js";

/** A request as a turn. `anew`: the session that it names is of no use. */
export function turnOf(request: WorkRequest, { anew = false } = {}): Turn {
  const { model, messages, tools = [], params = {}, work } = request;
  const instructions = messages
    .filter(isOfSystem)
    .map(textOf)
    .filter((text) => text !== "")
    .join("\n\n");
  const said = messages.filter((message) => !isOfSystem(message));
  const { session } = work;
  const resumed = !anew && session && session.told < said.length ? session : undefined;
  const asked = resumed ? resumed.told : beginningOfInput(said);
  return {
    model: model === OWN_MODEL ? undefined : model,
    params,
    instructions,
    instructionsHash: sha256(instructions),
    session: resumed && { id: resumed.id, instructions: resumed.instructions },
    past: resumed ? [] : said.slice(0, asked),
    input: said.slice(asked),
    tools,
    work,
  };
}

/** What a new session is asked is all that the user has said since the agent's last word. */
function beginningOfInput(said: readonly PromptMessage[]): number {
  const answered = said.findLastIndex(({ role }) => role !== "user");
  return answered + 1 < said.length ? answered + 1 : said.length;
}
