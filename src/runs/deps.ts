import type { Agents } from "../agents/index.js";
import type { HookRuntime } from "../hooks/index.js";
import type { FrozenConfig, PromptsDeps } from "../prompts/index.js";
import type { Provider } from "../providers/index.js";
import type { ToolRegistry } from "../tools/index.js";
import type { PromptTexts, RecordedValues } from "./prompt-texts.js";
import type { Sessions } from "./session/sessions.js";

/** Where models are asked: a provider for what a run was frozen with. */
export interface Providers {
  /** Throws what is wrong with the agent's configuration. */
  for(config: FrozenConfig): Provider;
  /** One that can write a request but not send it: it has no key. */
  toRebuild(config: FrozenConfig): Provider;
}

export interface RunsDeps extends PromptsDeps {
  readonly agents: Agents;
  readonly hooks: HookRuntime;
  readonly tools: ToolRegistry;
  readonly providers: Providers;
  readonly sessions: Sessions;
  readonly texts: PromptTexts;
  readonly values: RecordedValues;
}
