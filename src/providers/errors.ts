import { failures } from "../base/index.js";

/** What is wrong before a request is made. What goes wrong with a request is an event of its stream. */
export type ProviderError =
  | { kind: "provider.unknown"; provider: string; known: readonly string[] }
  | { kind: "provider.invalid_config"; provider: string; key: string; problem: string }
  | { kind: "provider.missing_key"; provider: string }
  | { kind: "provider.inexpressible"; provider: string; problem: string };

export const providerError = failures<ProviderError>();
