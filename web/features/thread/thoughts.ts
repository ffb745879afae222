import type { Part } from "./parts.js";

/** How long thoughts took, as this window saw it: a message in the log does not say. */
const taken = new Map<string, number>();
const KEPT = 500;

export function rememberThoughts(turn: string, parts: readonly Part[]): void {
  for (const part of parts) {
    if (part.kind === "thinking" && part.ms !== undefined) taken.set(`${turn} ${part.key}`, part.ms);
  }
  while (taken.size > KEPT) taken.delete(taken.keys().next().value as string);
}

export function withThoughts(turn: string, parts: readonly Part[]): Part[] {
  return parts.map((part) =>
    part.kind === "thinking" ? { ...part, ms: taken.get(`${turn} ${part.key}`) } : part,
  );
}
