import type { PromptMessage, ProviderEvent } from "../../../src/providers/index.js";

export const system = (content: string): PromptMessage => ({ role: "system", content });
export const user = (content: string): PromptMessage => ({ role: "user", content });
export const assistant = (content: string): PromptMessage => ({ role: "assistant", content });

/** Every event of a turn, in order. */
export async function all(events: AsyncIterable<ProviderEvent>): Promise<ProviderEvent[]> {
  const collected: ProviderEvent[] = [];
  for await (const event of events) collected.push(event);
  return collected;
}

type EventOf<T extends ProviderEvent["type"]> = Extract<ProviderEvent, { type: T }>;

export function only<T extends ProviderEvent["type"]>(
  events: readonly ProviderEvent[],
  type: T,
): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}
