import type { Agents } from "../agents/index.js";
import type { Bus } from "../base/index.js";
import type { HookRuntime } from "../hooks/index.js";
import type { FrozenConfig, PromptsDeps } from "../prompts/index.js";
import type { Bridge, Provider } from "../providers/index.js";
import type { RunRow } from "../store/index.js";
import type {
  ArtifactItem,
  ListedPlugin,
  McpServerStatus,
  ShownPanel,
  Skill,
  ToolRegistry,
} from "../tools/index.js";
import type { Waits } from "./delegate/waits.js";
import type { PromptTexts, RecordedValues } from "./prompt-texts.js";
import type { SessionKey } from "./session/parts.js";
import type { Sessions } from "./session/sessions.js";

/** Where models are asked: a provider for what a run was frozen with. */
export interface Providers {
  /** Throws what is wrong with the agent's configuration. */
  for(config: FrozenConfig, workspace_id: string): Provider;
  /** One that can write a request but not send it: it has no key. */
  toRebuild(config: FrozenConfig): Provider;
  /** Ends what programs keep for a place of theirs, or for all below it. */
  release(place: string): Promise<void>;
}

/** How a program reaches the tools of a thread while a run of it is under way. */
export interface Bridges {
  /** False: no program ever reaches this gateway, so none is told of tools. */
  mayOpen(): boolean;
  /** Undefined where nothing can reach this gateway. */
  open(key: SessionKey, agent_id: string): Promise<{ readonly bridge: Bridge; close(): void } | undefined>;
}

/** What sections of a prompt tell of, beside the thread itself. */
export interface Surroundings {
  /** The lists, notes and views of a workspace. */
  artifacts(workspace_id: string): Promise<readonly ArtifactItem[]>;
  /** The panels that people have open on them. */
  panels(workspace_id: string): readonly ShownPanel[];
  /**
   * The servers that tools of a workspace come from. In a command that runs once, and with `tried`, the first try of each
   * is waited for, for a while.
   */
  servers(
    workspace_id: string,
    wish?: { readonly tried: boolean },
  ): Promise<readonly Omit<McpServerStatus, "workspace_id">[]>;
  /** Where the skills of plugins are, and the command to use them with. None where commands can't reach this gateway. */
  skills(workspace_id: string, plugins: readonly ListedPlugin[]): Promise<readonly Skill[]>;
}

export interface RunsDeps extends PromptsDeps {
  readonly surroundings: Surroundings;
  readonly agents: Agents;
  readonly hooks: HookRuntime;
  readonly tools: ToolRegistry;
  readonly providers: Providers;
  readonly bridges: Bridges;
  /** Where an agent elsewhere reaches this gateway, unless its configuration says otherwise; undefined: nowhere. */
  readonly ownUrl: () => Promise<string | undefined>;
  readonly sessions: Sessions;
  /** Told of every run that has ended, once that is durable. */
  readonly ends: Bus<RunRow>;
  readonly waits: Waits;
  /** Workspaces that are about to be deleted: nothing begins in them. */
  readonly leaving: Set<string>;
  /** The gateway's own files, which no tool touches: absolute, links resolved. */
  readonly keptOut: readonly string[];
  readonly texts: PromptTexts;
  readonly values: RecordedValues;
}
