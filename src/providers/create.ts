import { z } from "zod";
import { httpConfigSchema, needKey, readConfig } from "./config.js";
import { demo } from "./demo.js";
import { providerError } from "./errors.js";
import { programConfig } from "./programs/config.js";
import type { Program } from "./programs/program.js";
import { programProvider } from "./programs/talk.js";
import { type ProgramId, type Provider, type ProviderId, providerIds } from "./provider.js";
import { scripted } from "./scripted.js";

export interface ProviderChoice {
  /** One of `providerIds`. */
  readonly provider: string;
  readonly config?: unknown;
  /** What a program sees of the environment, beside what its configuration names. */
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/**
 * Makes the provider that a configuration names, or throws what is wrong with it (`provider.unknown`,
 * `provider.invalid_config`, `provider.missing_key`). The code of an API is loaded with its first request.
 */
export function createProvider({ provider, config, env = {} }: ProviderChoice): Provider {
  if (Object.hasOwn(makers, provider)) return makers[provider as ProviderId](config, env);
  throw providerError(
    { kind: "provider.unknown", provider, known: providerIds },
    `There is no provider "${provider}". Known are: ${providerIds.join(", ")}.`,
  );
}

const openaiAddress = "https://api.openai.com/v1";
const anthropicAddress = "https://api.anthropic.com/v1";
const googleAddress = "https://generativelanguage.googleapis.com/v1beta";

const at = (address: string) => ({ baseURL: httpConfigSchema.shape.baseURL.default(address) });

const openaiSchema = httpConfigSchema.extend({
  ...at(openaiAddress),
  reasoningSummary: z.enum(["auto", "concise", "detailed"]).optional(),
});
const compatibleSchema = httpConfigSchema.extend({
  includeUsage: z.boolean().optional(),
  returnThinking: z.boolean().optional(),
});
const anthropicSchema = httpConfigSchema.extend(at(anthropicAddress));
const googleSchema = httpConfigSchema.extend(at(googleAddress));

type Maker = (config: unknown, env: NodeJS.ProcessEnv) => Provider;

const makers: Readonly<Record<ProviderId, Maker>> = {
  openai: (given) => {
    const config = needKey("openai", readConfig("openai", openaiSchema, given), openaiAddress);
    return lazily("openai", async () => (await import("./apis/openai.js")).openai(config));
  },
  "openai-compatible": (given) => {
    const config = readConfig("openai-compatible", compatibleSchema, given);
    return lazily("openai-compatible", async () => {
      return (await import("./apis/openai-compatible.js")).openaiCompatible(config);
    });
  },
  anthropic: (given) => {
    const config = needKey("anthropic", readConfig("anthropic", anthropicSchema, given), anthropicAddress);
    return lazily("anthropic", async () => (await import("./apis/anthropic.js")).anthropic(config));
  },
  google: (given) => {
    const config = needKey("google", readConfig("google", googleSchema, given), googleAddress);
    return lazily("google", async () => (await import("./apis/google.js")).google(config));
  },
  "claude-cli": program("claude-cli", async () => (await import("./programs/claude/program.js")).claude),
  "codex-cli": program("codex-cli", async () => (await import("./programs/codex/program.js")).codex),
  "pi-cli": program("pi-cli", async () => (await import("./programs/pi/program.js")).pi),
  acp: program("acp", async () => (await import("./programs/acp/program.js")).acp),
  demo,
  scripted,
};

function program(id: ProgramId, load: () => Promise<Program>): Maker {
  return (given, env) => {
    const config = programConfig(id, given, env);
    return lazily(id, async () => programProvider(await load(), config));
  };
}

/** An API's code takes longer to load than the whole gateway. */
function lazily(id: ProviderId, load: () => Promise<Provider>): Provider {
  let loading: Promise<Provider> | undefined;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    id,
    async *generate(request, options) {
      yield* (await loaded()).generate(request, options);
    },
    prepare: async (request) => (await loaded()).prepare(request),
    load: async () => {
      await loaded();
    },
    // What was never loaded keeps nothing.
    release: async (key) => (await loading)?.release?.(key),
  };
}
