/** The path of the first value that looks like a key or token; undefined when none does. */
export function findSecret(value: unknown): string | undefined {
  for (const path of secretsIn(value)) return path;
  return undefined;
}

/** The paths of all values that look like keys or tokens. What only names one (`$NAME`, a path, a URL) is none. */
export function* secretsIn(value: unknown, path: readonly string[] = []): Generator<string> {
  if (typeof value === "string") {
    if (isSecret(value, path.at(-1) ?? "")) yield path.join(".");
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* secretsIn(inner, [...path, key]);
}

/**
 * What the common services' keys look like, wherever they stand in a text. Every search begins at the start of a word and
 * looks a bounded way ahead: a long text without spaces would take hours otherwise.
 */
const SHAPES = [
  /sk-[A-Za-z0-9]{16,}/,
  /sk-(?=[\w-]{0,80}\d)[\w-]{20,}/,
  /[sr]k_(?:live|test)_[A-Za-z0-9]{10,}/,
  /gh[pousr]_[A-Za-z0-9]{16,}/,
  /github_pat_\w{20,}/,
  /glpat-[\w-]{16,}/,
  /xox[abeoprs]-[\w-]{10,}/,
  /A(?:KIA|SIA)[0-9A-Z]{16}(?![0-9A-Za-z])/,
  /AIza[\w-]{30,}/,
  /GOCSPX-[\w-]{20,}/,
  /ya29\.[\w-]{20,}/,
  /npm_[A-Za-z0-9]{30,}/,
  /pypi-[\w-]{30,}/,
  /hf_[A-Za-z0-9]{20,}/,
  /SG\.[\w-]{16,}\.[\w-]{16,}/,
  /eyJ[\w-]{8,400}\.eyJ[\w-]{8,4000}\.[\w-]{8,}/,
  /[Bb]earer (?=[\w.~+/-]{0,80}\d)[\w.~+/-]{20,}/,
  /AGE-SECRET-KEY-1[0-9A-Z]{20,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
].map((shape) => new RegExp(`(?<![A-Za-z0-9])${shape.source}`));

/** `https://name:password@host` */
const IN_URL = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]{0,200}:(?![$%{<])[^\s/@]{4,400}@/i;
/** `export API_KEY=…`, `--token=…`, `"password": "…"` inside a longer text. */
const ASSIGNED = /(?<![\w.-])([\w.-]{1,100})["']?[ \t]{0,8}[=:][ \t]{0,8}["']?([^\s"';|&]{1,400})/g;

const NAME =
  /(?:api_?key|access_?key|secret_?key|private_?key|secret|password|passwd|passphrase|credentials?)$/;
const TOKEN = /(?:^|_)token$/;
/** A variable, a command's output, a placeholder, a path or an address: it tells where a secret is. */
const REFERENCE = /^(?:[$%<{`*]|~?\.{0,2}\/|[a-z][a-z0-9+.-]*:\/\/|(?:env|file|keychain|vault):)/i;
const SHORTEST = 8;

function isSecret(text: string, name: string): boolean {
  if (SHAPES.some((shape) => shape.test(text)) || IN_URL.test(text)) return true;
  if (isKept(name, text)) return true;
  return [...text.matchAll(ASSIGNED)].some(([, key = "", value = ""]) => isKept(key, value));
}

/** Whether a value under a name is a secret. `token` alone has other meanings too: there the value must look random. */
function isKept(name: string, value: string): boolean {
  if (value.length < SHORTEST || /\s/.test(value) || REFERENCE.test(value)) return false;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[-.]/g, "_")
    .toLowerCase();
  if (NAME.test(words)) return true;
  return TOKEN.test(words) && /^(?=.*\d)(?=.*[A-Za-z])[\w.+/=~-]{16,}$/.test(value);
}
