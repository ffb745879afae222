import { type HeddleConfig, secretVariables } from "../agents/index.js";

/**
 * What programs that a project or a user names get of the environment: no key of a model API, nothing that the
 * configuration was filled with, and nothing of how the gateway was started. A variable of another name with such a key's
 * value is the same key.
 */
export function childEnv(env: NodeJS.ProcessEnv, config: HeddleConfig | undefined): NodeJS.ProcessEnv {
  const names = new Set(secretVariables(config));
  const values = new Set(
    [...names].map((name) => env[name]).filter((value) => (value ?? "").length >= SECRET_CHARS),
  );
  const isOurs = (name: string, value: string | undefined) =>
    /^(HEDDLE|GIT)_/.test(name) || names.has(name) || values.has(value);
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isOurs(name, value)));
}

/** Shorter values are words such as `true`, which many variables have. */
const SECRET_CHARS = 8;

/** Hooks see every message: what else looks like a secret is not theirs either. A set-up may need such a thing, to install. */
export function hookEnv(env: NodeJS.ProcessEnv, config: HeddleConfig | undefined): NodeJS.ProcessEnv {
  const secret = /(key|token|secret|password|passwd|credentials?)$/i;
  return Object.fromEntries(Object.entries(childEnv(env, config)).filter(([name]) => !secret.test(name)));
}
