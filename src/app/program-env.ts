import type { ProgramStart } from "../agents/index.js";
import { hookEnv } from "./child-env.js";
import { keysOfCodex } from "./sign-in.js";

/**
 * What a program that is an agent itself sees of the environment: what hooks and commands see, and of the secrets exactly
 * those that it is known to reach its models with. What else it needs, its entry in the configuration gives it: `env`.
 */
export function programEnv(
  { known, env: own }: Pick<ProgramStart, "known" | "env">,
  env: NodeJS.ProcessEnv,
  withheld: ReadonlySet<string>,
): NodeJS.ProcessEnv {
  const needs = needsOf(known, { ...env, ...own });
  const rest = Object.entries(hookEnv(env, withheld)).filter(([name]) => !OF_MODELS.test(name));
  const isElsewhere = Object.keys(own).some((name) => ADDRESS.test(name));
  const needed = Object.entries(env).filter(
    ([name]) => !isElsewhere && needs(name) && !name.startsWith("HEDDLE_"),
  );
  const seen = [...rest, ...needed].filter(([name]) => !OF_ANOTHER_SESSION.test(name));
  return { ...Object.fromEntries(seen), ...own };
}

/** A key of the environment never goes to an address that the configuration names. */
const ADDRESS = /(^|_)(BASE_URL|ENDPOINT|API_BASE|HOST)$/;

/** Keys, accounts and addresses of models: each program gets its own, and no other's. */
const ANTHROPIC = /^(ANTHROPIC|CLAUDE_CODE)_/;
const OPENAI = /^(OPENAI|CODEX)_/;
const GOOGLE = /^(GEMINI|GOOGLE)_|^CLOUD_ML_REGION$/;
const AWS = /^AWS_/;
const AWS_SECRETS = /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|BEARER_TOKEN_\w+)$/;
const OF_MODELS = new RegExp([ANTHROPIC, OPENAI, GOOGLE, AWS_SECRETS].map(({ source }) => source).join("|"));

/** Services whose keys pi and OpenCode take from the environment, besides those above. */
const SERVICES =
  /^(AI_GATEWAY|AZURE|AZURE_OPENAI|CEREBRAS|CLOUDFLARE|DEEPSEEK|FIREWORKS|GROQ|KIMI|MINIMAX|MINIMAX_CN|MISTRAL|MOONSHOT|OPENCODE|OPENROUTER|TOGETHER|XAI|XIAOMI|ZAI)_API_KEY$|^HF_TOKEN$|^COPILOT_GITHUB_TOKEN$/;

/**
 * Marks of a program that Heddle itself was started from: its child would take itself for a part of that session, or skip
 * the questions that people are to be asked.
 */
const OF_ANOTHER_SESSION =
  /^(CLAUDECODE|GEMINI_CLI|OPENCODE|OPENCODE_PID)$|^CLAUDE_CODE_(ENTRYPOINT|SSE_PORT|CHILD_SESSION|SESSION_|REMOTE|BRIDGE_|MESSAGING_|WORKER_)|^CLAUDE_CODE_\w+(_FILE_DESCRIPTOR|SKIP_PERMISSIONS)$|^CODEX_(SANDBOX|THREAD_ID|TOOL_CALL_ID|SESSION|INTERNAL)/;

type Needs = (name: string) => boolean;

function needsOf(program: string | undefined, env: NodeJS.ProcessEnv): Needs {
  if (program === "claude") return anyOf(ANTHROPIC, ...cloudsOf(env));
  if (program === "codex") {
    const named = keysOfCodex(env);
    return (name) => OPENAI.test(name) || named.includes(name);
  }
  if (program === "gemini") return anyOf(GOOGLE);
  if (program === "pi" || program === "opencode") return anyOf(ANTHROPIC, OPENAI, GOOGLE, AWS, SERVICES);
  // Another ACP agent: the model APIs that Heddle itself knows.
  return anyOf(/^ANTHROPIC_/, /^OPENAI_/, GOOGLE);
}

function anyOf(...patterns: readonly RegExp[]): Needs {
  return (name) => patterns.some((pattern) => pattern.test(name));
}

/** Claude Code asks a cloud's models only when it is told to. */
function cloudsOf(env: NodeJS.ProcessEnv): RegExp[] {
  return [
    ...(env.CLAUDE_CODE_USE_BEDROCK ? [AWS] : []),
    ...(env.CLAUDE_CODE_USE_VERTEX ? [GOOGLE, /^VERTEX_/] : []),
  ];
}
