import { type ConfigText, keyText, type Path } from "./config-text.js";
import { agentsError } from "./errors.js";

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The same value with `${NAME}` in its texts replaced by the environment's. What is put in is not looked at again. `$${`
 * stands for the characters `${`.
 */
export function substituteVariables(config: ConfigText, env: Env): unknown {
  return substituted(config.value, [], { config, env });
}

interface Source {
  readonly config: ConfigText;
  readonly env: Env;
}

function substituted(value: unknown, path: Path, source: Source): unknown {
  if (typeof value === "string") return isShellLine(path) ? value : textWith(value, path, source);
  if (Array.isArray(value)) return value.map((item, index) => substituted(item, [...path, index], source));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, substituted(item, [...path, key], source)]),
  );
}

/** A shell puts in variables itself, and knows how to quote them. */
function isShellLine(path: Path): boolean {
  return path.length === 3 && path[0] === "hooks" && path[2] === "shell";
}

/** What a program is started with: it stands in runs, and in lists of processes. */
function isShown([list, , chat, config, key]: Path): boolean {
  return list === "agents" && chat === "chat" && config === "config" && (key === "command" || key === "args");
}

/** Paths and short words are none. */
function mayBeSecret(value: string): boolean {
  return value.length >= 8 && !/^(\/|~|\.{1,2}\/|[A-Za-z]:\\)/.test(value);
}

const SHOWN =
  "is kept with runs and shown, so it must not hold a variable that may be secret: name it in `chat.config.env` instead";
const LITERALLY = `write "$\${" for the characters "\${" themselves`;
const ESCAPED_OR_VARIABLE = /\$\$\{|\$\{([^}]*)(\}?)/g;

function textWith(text: string, path: Path, { config, env }: Source): string {
  return text.replace(ESCAPED_OR_VARIABLE, (_found, name: string | undefined, end: string | undefined) => {
    if (name === undefined) return "${";
    if (!end || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw config.fault(
        path,
        `has a "\${" without the name of an environment variable and a "}" after it; ${LITERALLY}`,
      );
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) throw missing(config, path, name);
    if (isShown(path) && mayBeSecret(value)) throw config.fault(path, SHOWN);
    return value;
  });
}

function missing(config: ConfigText, path: Path, variable: string) {
  const { file } = config;
  const line = config.lineOf(path);
  const key = keyText(path);
  return agentsError(
    { kind: "config.missing_variable", file, line, key, variable },
    `${file}:${line}: ${key} needs the environment variable ${variable}, which is not set. Set it; or, if none is meant, ${LITERALLY}.`,
  );
}
