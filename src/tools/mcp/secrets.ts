import type { McpServerEntry } from "./entry.js";

/** Shorter values are words such as `true`, which any text may hold. */
const SECRET_CHARS = 6;

/** Takes what an entry was given in confidence out of a text: a server may write its own environment to its standard error. */
export function hidingSecrets(entry: McpServerEntry): (text: string) => string {
  const values = [
    ...Object.values(entry.env ?? {}),
    ...Object.values(entry.headers ?? {}).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...secretsOfAddress(entry.url),
  ];
  const secrets = [...new Set(values)]
    .filter((value) => value.length >= SECRET_CHARS)
    .sort((a, b) => b.length - a.length);
  return (text) => secrets.reduce((hidden, secret) => hidden.replaceAll(secret, "[hidden]"), text);
}

function secretsOfAddress(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { username, password, searchParams } = new URL(url);
  return [username, password, decoded(username), decoded(password), ...searchParams.values()];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
