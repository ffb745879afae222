import { closeSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Whether somebody is signed in to a program, as far as files and variables tell: it is not started and nothing is asked.
 * Undefined where that is not certain. Whether a key is any good, nobody looks at here.
 */
export function isSignedIn(
  program: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): boolean | undefined {
  const look = Object.hasOwn(looks, program) ? looks[program] : undefined;
  const found = look?.({ env, home: env.HOME || homedir() });
  // A keychain can't be looked into without asking the person.
  return found === false && platform === "darwin" ? undefined : found;
}

/** The variables that a custom model provider of codex takes its key from. */
export function keysOfCodex(env: NodeJS.ProcessEnv): string[] {
  const text = beginningOf(join(codexHome({ env, home: env.HOME || homedir() }), "config.toml"));
  return [...text.matchAll(/^\s*env_key\s*=\s*["'](\w+)["']/gm)].map(([, name]) => name as string);
}

interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly home: string;
}

type Look = (place: Place) => boolean | undefined;

const looks: Readonly<Record<string, Look>> = {
  claude({ env, home }) {
    const dir = env.CLAUDE_CONFIG_DIR || join(home, ".claude");
    const settings = [join(dir, "settings.json"), "/etc/claude-code/managed-settings.json"];
    if (hasAny(env, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")) return true;
    if (holds(join(dir, ".credentials.json"))) return true;
    if (settings.some((file) => mentions(file, /"(apiKeyHelper|ANTHROPIC_(API_KEY|AUTH_TOKEN))"\s*:/))) {
      return true;
    }
    const account = env.CLAUDE_CONFIG_DIR ? join(dir, ".claude.json") : join(home, ".claude.json");
    if (mentions(account, /"primaryApiKey"\s*:\s*"/)) return true;
    // A cloud has sign-ins of its own.
    const usesCloud = Object.keys(env).some((name) => /^CLAUDE_CODE_USE_/.test(name) && env[name]);
    return usesCloud || settings.some((file) => mentions(file, /"CLAUDE_CODE_USE_\w+"\s*:/))
      ? undefined
      : false;
  },

  codex(place) {
    const { env } = place;
    const dir = codexHome(place);
    const config = join(dir, "config.toml");
    if (holds(join(dir, "auth.json"))) return true;
    if (mentions(config, /^\s*model_provider\s*=/m)) return true;
    // In the mode in which it is kept for a thread it takes no key from the environment: OPENAI_API_KEY is no sign-in.
    const unclear =
      hasAny(env, "CODEX_ACCESS_TOKEN") || mentions(config, /^\s*cli_auth_credentials_store\s*=/m);
    return unclear ? undefined : false;
  },

  pi({ env, home }) {
    const dir = env.PI_CODING_AGENT_DIR || join(home, ".pi", "agent");
    if (hasKey(env)) return true;
    return holds(join(dir, "auth.json")) || holds(join(dir, "models.json"));
  },

  gemini({ env, home }) {
    const dir = join(env.GEMINI_CLI_HOME || home, ".gemini");
    if (hasAny(env, "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GEMINI_BASE_URL")) return true;
    if (holds(join(dir, "oauth_creds.json")) || holds(join(dir, "gemini-credentials.json"))) return true;
    // It reads variables from these files by itself, and may keep a key where only it can read it.
    const unclear =
      hasAny(
        env,
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_GENAI_USE_GCA",
        "CLOUD_SHELL",
      ) ||
      [join(dir, ".env"), join(home, ".env")].some((file) => mentions(file, /_API_KEY\s*=|_VERTEXAI\s*=/)) ||
      mentions(join(dir, "settings.json"), /"(selectedType|selectedAuthType)"\s*:/);
    return unclear ? undefined : false;
  },

  opencode({ env, home }) {
    const data = env.XDG_DATA_HOME || join(home, ".local", "share");
    const config = join(env.XDG_CONFIG_HOME || join(home, ".config"), "opencode");
    const files = [join(config, "opencode.json"), join(config, "opencode.jsonc"), env.OPENCODE_CONFIG ?? ""];
    if (hasKey(env) || holds(join(data, "opencode", "auth.json"))) return true;
    // It has models that need no sign-in: that there is none says nothing.
    return files.some((file) => mentions(file, /"provider"\s*:/)) ? true : undefined;
  },
};

function codexHome({ env, home }: Place): string {
  return env.CODEX_HOME || join(home, ".codex");
}

function hasAny(env: NodeJS.ProcessEnv, ...names: readonly string[]): boolean {
  return names.some((name) => Boolean(env[name]));
}

function hasKey(env: NodeJS.ProcessEnv): boolean {
  return Object.keys(env).some(
    (name) => /_API_KEY$|^(ANTHROPIC_OAUTH_TOKEN|COPILOT_GITHUB_TOKEN|HF_TOKEN)$/.test(name) && env[name],
  );
}

/** Programs make such files empty, too: `{}` holds nothing. */
const EMPTY_BYTES = 4;

function holds(file: string): boolean {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size > EMPTY_BYTES;
  } catch {
    return false;
  }
}

/** Whether a key stands in a file. What it is set to goes nowhere. */
function mentions(file: string, key: RegExp): boolean {
  return key.test(beginningOf(file));
}

const MOST_BYTES = 1024 * 1024;

/** Empty when it can't be read. A pipe would hold up everything: it is not opened. */
function beginningOf(file: string): string {
  if (!holds(file)) return "";
  try {
    const at = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(Math.min(statSync(file).size, MOST_BYTES));
      return bytes.toString("utf8", 0, readSync(at, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(at);
    }
  } catch {
    return "";
  }
}
