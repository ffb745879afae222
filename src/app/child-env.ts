/**
 * What programs that a project or a user names get of the environment: nothing that is withheld, which is keys of model
 * APIs and what a configuration was filled with, and nothing of how the gateway was started. A variable of another name with
 * such a key's value is the same key.
 */
export function childEnv(env: NodeJS.ProcessEnv, withheld: ReadonlySet<string>): NodeJS.ProcessEnv {
  const values = new Set(
    [...withheld].map((name) => env[name]).filter((value) => (value ?? "").length >= SECRET_CHARS),
  );
  const isOurs = (name: string, value: string | undefined) =>
    /^(HEDDLE|GIT)_/.test(name) || withheld.has(name) || values.has(value);
  return Object.fromEntries(Object.entries(env).filter(([name, value]) => !isOurs(name, value)));
}

/** Shorter values are words such as `true`, which many variables have. */
const SECRET_CHARS = 8;

/** Hooks see every message: what else looks like a secret is not theirs either. A set-up may need such a thing, to install. */
export function hookEnv(env: NodeJS.ProcessEnv, withheld: ReadonlySet<string>): NodeJS.ProcessEnv {
  const secret = /(key|token|secret|password|passwd|credentials?)$/i;
  return Object.fromEntries(Object.entries(childEnv(env, withheld)).filter(([name]) => !secret.test(name)));
}
