import { isProgram, OWN_MODEL, providerIds } from "../providers/index.js";
import type { Env } from "./substitute.js";

export const knownProviders: readonly string[] = providerIds;

interface ProgramNotes {
  readonly displayName: string;
  readonly provider: string;
  readonly args: readonly string[];
  /** How somebody signs in, in words that complete a sentence. */
  readonly signIn: string;
  /** ACP agents only: the file or package that it is told by, as the provider tells it too. */
  readonly word?: RegExp;
}

/** Programs that are agents themselves, looked for on the PATH in this order. */
export const programs: Readonly<Record<string, ProgramNotes>> = {
  claude: {
    displayName: "Claude Code",
    provider: "claude-cli",
    args: [],
    signIn: "run `claude` once and sign in, or set ANTHROPIC_API_KEY",
  },
  codex: {
    displayName: "Codex",
    provider: "codex-cli",
    args: [],
    signIn: "run `codex login`",
  },
  pi: {
    displayName: "Pi",
    provider: "pi-cli",
    args: [],
    signIn: "run `pi` and use its command `/login`, or set the API key of a model",
  },
  gemini: {
    displayName: "Gemini CLI",
    provider: "acp",
    args: ["--acp"],
    word: /^(?:gemini(?:\.(?:js|cmd))?|@google\/gemini-cli(?:@.*)?)$/,
    signIn: "run `gemini` once and sign in, or set GEMINI_API_KEY",
  },
  opencode: {
    displayName: "OpenCode",
    provider: "acp",
    args: ["acp"],
    word: /^(?:opencode(?:\.(?:exe|cmd))?|opencode-ai(?:@.*)?)$/,
    signIn: "run `opencode auth login`",
  },
};

interface ApiFacts {
  readonly displayName: string;
  /** Variables that hold a key; the first that is set counts. */
  readonly keys: readonly string[];
  /** The variable that says which model is used where none is named. */
  readonly modelVariable: string;
  readonly model: string;
  addressFrom(env: Env): string | undefined;
}

/** The model APIs that are looked for in the environment, in this order. */
export const apis: Readonly<Record<string, ApiFacts>> = {
  openai: {
    displayName: "OpenAI",
    keys: ["OPENAI_API_KEY"],
    modelVariable: "HEDDLE_OPENAI_MODEL",
    model: "gpt-6.1-sol",
    addressFrom: (env) => env.OPENAI_BASE_URL || undefined,
  },
  anthropic: {
    displayName: "Anthropic",
    keys: ["ANTHROPIC_API_KEY"],
    modelVariable: "HEDDLE_ANTHROPIC_MODEL",
    model: "claude-sonnet-5-5",
    addressFrom: (env) => versioned(env.ANTHROPIC_BASE_URL || undefined),
  },
  google: {
    displayName: "Google",
    keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"],
    modelVariable: "HEDDLE_GOOGLE_MODEL",
    model: "gemini-3.8-flash",
    addressFrom: () => undefined,
  },
};

/** Programs agree that `ANTHROPIC_BASE_URL` is without the version that the provider's address ends with. */
function versioned(address: string | undefined): string | undefined {
  if (address === undefined || /\/v\d+\/*$/.test(address)) return address;
  return `${address.replace(/\/+$/, "")}/v1`;
}

/** Models that need no name. */
const onlyModels: Readonly<Record<string, string>> = { demo: "demo", scripted: "scripted" };

/** The model of a provider where none is named; undefined where it must be. */
export function defaultModel(provider: string, env: Env): string | undefined {
  if (isProgram(provider)) return OWN_MODEL;
  if (Object.hasOwn(onlyModels, provider)) return onlyModels[provider];
  if (!Object.hasOwn(apis, provider)) return undefined;
  const { modelVariable, model } = apis[provider] as ApiFacts;
  return env[modelVariable] || model;
}

export interface FoundAccess {
  readonly apiKey: string;
  readonly baseURL?: string;
}

/** A key and the address it is for, as the environment has them: one never goes without the other. */
export function findAccess(provider: string, env: Env): FoundAccess | undefined {
  if (!Object.hasOwn(apis, provider)) return undefined;
  const { keys, addressFrom } = apis[provider] as ApiFacts;
  const apiKey = keys.map((name) => env[name]).find(Boolean);
  if (!apiKey) return undefined;
  const baseURL = addressFrom(env);
  return { apiKey, ...(baseURL !== undefined && { baseURL }) };
}

export function keyVariable(provider: string): string | undefined {
  return Object.hasOwn(apis, provider) ? apis[provider]?.keys[0] : undefined;
}
