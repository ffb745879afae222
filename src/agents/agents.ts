import { AgentSet, type AgentsGiven } from "./agent-set.js";
import type { HeddleConfig } from "./parse-config.js";

/** The agents of every workspace, as the configuration has them now. A run keeps what it was admitted with. */
export class Agents {
  /** Why the last edit of the configuration is not in effect; undefined when it is. */
  problem: string | undefined;
  /** Where the configuration is, or would be; undefined where nobody follows one. */
  configFile: string | undefined;
  /** Resolves once everything that agents are made for was looked for; nobody who needs no list waits for it. */
  looked: Promise<void> = Promise.resolve();
  /** Has everything looked for once more; `looked` then waits for it. */
  look: () => void = () => {};
  /** Asked before the agents of a workspace are used: what its project says may not be trusted any more. */
  beforeUse: (workspace_id: string) => void = () => {};
  #given: Omit<AgentsGiven, "project">;
  #common: AgentSet;
  /** Of workspaces whose project has a configuration that the user trusts. */
  readonly #projects = new Map<string, HeddleConfig>();
  readonly #sets = new Map<string, AgentSet>();

  constructor(given: Omit<AgentsGiven, "project">) {
    this.#given = given;
    this.#common = new AgentSet(given);
  }

  /** Those of a workspace. Asked anew each time: the answer changes with the configuration. */
  in(workspace_id: string): AgentSet {
    this.beforeUse(workspace_id);
    const project = this.#projects.get(workspace_id);
    if (!project) return this.#common;
    const known = this.#sets.get(workspace_id) ?? new AgentSet({ ...this.#given, project });
    this.#sets.set(workspace_id, known);
    return known;
  }

  /** Those that every workspace has. */
  get common(): AgentSet {
    return this.#common;
  }

  /** What is not named stays as it is. */
  update(changes: Partial<Omit<AgentsGiven, "project">>): void {
    const given = { ...this.#given, ...changes };
    this.#common = new AgentSet(given);
    this.#given = given;
    this.#sets.clear();
  }

  /** The configuration of a workspace's project; undefined when there is none, or it is not trusted. */
  setProject(workspace_id: string, config: HeddleConfig | undefined): void {
    if (config) this.#projects.set(workspace_id, config);
    else this.#projects.delete(workspace_id);
    this.#sets.delete(workspace_id);
  }
}
