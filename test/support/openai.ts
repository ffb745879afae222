import OpenAI from "openai";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import { agentAt, apis, type RunScene, type RunStage } from "./runs.js";

/** Agents as models: two that answer, one that asks first, one that is hidden, one that can't be used. */
export const modelAgents = (url: string) => ({
  agents: [
    agentAt(url, apis[0], { agentId: "helper", displayName: "Helper", systemPrompt: "You help." }),
    agentAt(url, apis[0], { agentId: "other" }),
    agentAt(url, apis[0], { agentId: "asking", toolApprovals: { ask: ["files_read"] } }),
    agentAt(url, apis[0], { agentId: "secret", uiVisible: false }),
    { agentId: "keyless", displayName: "Keyless", chat: { provider: "anthropic", model: "x" } },
  ],
});

/** The official client at `/v1`; it does not try again by itself. */
export function openAi(stage: RunStage, scene?: RunScene): OpenAI {
  const { url, token } = stage.gateway();
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: token,
    maxRetries: 0,
    ...(scene && { defaultHeaders: { "x-heddle-workspace": scene.workspace_id } }),
  });
}

export const user = (content: string): ChatCompletionMessageParam => ({ role: "user", content });
export const assistant = (content: string): ChatCompletionMessageParam => ({ role: "assistant", content });

/** The messages that the model was sent. */
export async function askedOf(scene: RunScene, index: number): Promise<{ role: string; content: string }[]> {
  return JSON.parse(await scene.received(index)).messages;
}
