import { ProgramProblem } from "../program.js";
import type { Peer } from "./peer.js";
import type { SessionSaid } from "./protocol.js";

type Subject = "model" | "mode";

interface Choice {
  readonly current: string;
  readonly options: readonly string[];
  /** Undefined: by the method of its own that older agents have. */
  readonly configId: string | undefined;
}

/** Modes in which an agent asks for nothing. */
const ASKS_NOTHING = /yolo|bypass|full.?access|auto.?(?:edit|approve|accept)|accept.?edits|dont.?ask/i;

/** What can be chosen in a session: its model and its mode. */
export class Choices {
  readonly #peer: Peer;
  readonly #sessionId: string;
  readonly #now = new Map<Subject, Choice>();
  /** The model that the agent chose by itself. */
  readonly #ownModel: string | undefined;

  constructor(peer: Peer, sessionId: string, said: SessionSaid) {
    this.#peer = peer;
    this.#sessionId = sessionId;
    for (const subject of ["model", "mode"] as const) {
      const choice = offered(said, subject);
      if (choice) this.#now.set(subject, choice);
    }
    this.#ownModel = this.#now.get("model")?.current;
  }

  get mode(): string | undefined {
    return this.#now.get("mode")?.current;
  }

  /** An unknown model is refused here: agents take one and fail later, or answer with another. */
  async model(wanted: string | undefined): Promise<void> {
    const model = wanted ?? this.#ownModel;
    if (model === undefined) return;
    const choice = this.#now.get("model");
    if (!choice) {
      const words = `can't be told which model to use. Set its model to "default", and choose "${model}" in the program itself`;
      throw new ProgramProblem("program.failed", words);
    }
    if ([...choice.options, choice.current, this.#ownModel].includes(model))
      return this.#choose("model", model);
    const known = choice.options.slice(0, 40).join(", ");
    throw new ProgramProblem("program.failed", `does not know the model "${model}". It offers: ${known}`);
  }

  /** Whatever a user chose in the program itself: here it asks before it acts. */
  async askingMode(): Promise<void> {
    const choice = this.#now.get("mode");
    if (!choice || !ASKS_NOTHING.test(choice.current)) return;
    const asking = choice.options.find((mode) => !ASKS_NOTHING.test(mode));
    if (asking === undefined)
      throw new ProgramProblem(
        "program.failed",
        `is in the mode "${choice.current}", which asks for nothing`,
      );
    await this.#choose("mode", asking);
  }

  async #choose(subject: Subject, value: string): Promise<void> {
    const choice = this.#now.get(subject);
    if (!choice || choice.current === value) return;
    const { configId } = choice;
    const sessionId = this.#sessionId;
    if (configId !== undefined)
      await this.#peer.request("session/set_config_option", { sessionId, configId, value });
    else if (subject === "model")
      await this.#peer.request("session/set_model", { sessionId, modelId: value });
    else await this.#peer.request("session/set_mode", { sessionId, modeId: value });
    this.#now.set(subject, { ...choice, current: value });
  }
}

function offered({ configOptions, models, modes }: SessionSaid, subject: Subject): Choice | undefined {
  const option = configOptions.find(({ id, category }) => category === subject || id === subject);
  if (option) {
    const options = option.options.flat().map(({ value }) => value);
    return { current: option.currentValue, options, configId: option.id };
  }
  if (subject === "model" && models)
    return {
      current: models.currentModelId,
      options: models.availableModels.map(({ modelId }) => modelId),
      configId: undefined,
    };
  if (subject === "mode" && modes)
    return {
      current: modes.currentModeId,
      options: modes.availableModes.map(({ id }) => id),
      configId: undefined,
    };
  return undefined;
}
