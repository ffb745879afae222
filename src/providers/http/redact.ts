/** Takes secrets out of any text that leaves this module: servers like to repeat a wrong key. */
export type Redact = (text: string) => string;

/** Shorter values are words of any text ("none", "x"), not secrets. */
const SHORTEST_SECRET = 4;

export function redactor(secrets: readonly (string | undefined)[]): Redact {
  const forms = new Set(
    secrets
      .flatMap((secret) => (secret ? [secret, ...secret.split(/\s+/)] : []))
      .filter((secret) => secret.length >= SHORTEST_SECRET && !/^(bearer|basic)$/i.test(secret))
      .flatMap((secret) => [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]),
  );
  const longestFirst = [...forms].sort((one, other) => other.length - one.length);
  return (text) => longestFirst.reduce((rest, secret) => rest.replaceAll(secret, "[redacted]"), text);
}
