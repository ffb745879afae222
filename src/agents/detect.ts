import { type AgentDefinition, defineAgent } from "./definition.js";
import { apis, defaultModel, findAccess } from "./provider-facts.js";
import type { Env } from "./substitute.js";

/** An agent for each model API whose key is in the environment. */
export function detectAgents(env: Env): AgentDefinition[] {
  return Object.entries(apis).flatMap(([provider, { displayName }]) => {
    const access = findAccess(provider, env);
    const model = defaultModel(provider, env);
    if (!access || model === undefined) return [];
    const entry = {
      agentId: provider,
      displayName,
      description: `A general assistant with ${displayName}'s ${model}.`,
      systemPrompt: "You are a helpful general assistant.",
      chat: { provider, model, config: { ...access } },
    };
    return [defineAgent(entry, "detected")];
  });
}

/** They need nothing, and so are there for everyone who has nothing yet. The second is whom the first hands work to. */
export function demoAgents(): AgentDefinition[] {
  const demo = {
    agentId: "demo",
    displayName: "Demo",
    description: "The built-in agent, which needs no key and no network.",
    chat: { provider: "demo", model: "demo" },
  };
  const notes = {
    agentId: "demo-notes",
    displayName: "Demo Notes",
    description: "Keeps notes and lists for the demo agent, and has no other tools.",
    chat: { provider: "demo", model: "demo" },
    toolAllowlist: ["notes_*", "lists_*"],
  };
  return [demo, notes].map((entry) => defineAgent(entry, "built_in"));
}
