import type { AgentEntry } from "./config-schema.js";
import type { AgentDefinition } from "./definition.js";
import { unavailable } from "./errors.js";

/** Stands for the provider and the model of an agent elsewhere: what it really asks is its own business. */
export const EXTERNAL = "external";

export type ExternalAddress = NonNullable<AgentEntry["external"]>;

/** Where an agent elsewhere is reached, secrets included, as it is configured now. Throws `agent.unavailable`. */
export function externalAddress({ agentId, type, external }: AgentDefinition): ExternalAddress {
  if (type === "external" && external) return external.open();
  throw unavailable(agentId, "It is no external agent any more. Ask again.");
}
