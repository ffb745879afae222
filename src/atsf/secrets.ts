/** Names under which people keep secrets, and the shapes of common ones. */
const NAME = /(api[-_]?key|secret|token|password|passwd|credential|private[-_]?key)$/i;
const SHAPE =
  /^(sk-|sk_live_|ghp_|gho_|github_pat_|xox[abpr]-|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|-----BEGIN [A-Z ]*PRIVATE KEY)/;
const SHORTEST = 8;

/** The path of the first value that looks like a key or token; `${NAME}` and `$NAME` only name one. */
export function findSecret(value: unknown, path = ""): string | undefined {
  if (typeof value === "string") return isSecret(value, path) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const found = findSecret(inner, path === "" ? key : `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSecret(text: string, path: string): boolean {
  if (/^\$\{?[A-Za-z_]\w*\}?$/.test(text)) return false;
  const name = path.split(".").at(-1) ?? "";
  return SHAPE.test(text) || (NAME.test(name) && text.length >= SHORTEST && !/\s/.test(text));
}
