import type { Agents, HeddleConfig } from "../agents/index.js";
import type { FoundConfig } from "./config-file.js";
import type { UserHooks } from "./user-hooks.js";

/** What a configuration decides, besides the agents. None of it can fail. */
export type ConfigUser = (config: HeddleConfig | undefined, found: FoundConfig) => void;

export interface AppliedTo {
  readonly agents: Agents;
  readonly hooks: UserHooks;
  /** In this order: what is withheld from children, plugins, providers, environments of children, servers. */
  readonly users: readonly ConfigUser[];
}

/**
 * Puts a configuration in the place of the one in effect: all of it, or nothing and an error. Runs under way keep what they
 * were admitted with.
 */
export async function applyConfig({ agents, hooks, users }: AppliedTo, found: FoundConfig): Promise<void> {
  const prepared = await hooks.prepare(found);
  try {
    prepared.make();
  } catch (error) {
    await prepared.drop();
    throw error;
  }
  agents.update({ config: found.config });
  for (const use of users) use(found.config, found);
}
