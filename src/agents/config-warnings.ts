import type { z } from "zod";
import {
  agentSchema,
  chatSchema,
  configSchema,
  externalSchema,
  limitsSchema,
  mcpServerSchema,
  providerOptionsSchema,
  toolApprovalsSchema,
} from "./config-schema.js";
import { type ConfigText, keyText, type Path, readConfigText } from "./config-text.js";
import { nearest } from "./nearest.js";
import { knownProviders } from "./provider-facts.js";

export interface ConfigWarning {
  readonly file: string;
  readonly line: number;
  readonly key: string;
  /** What may have been meant. */
  readonly nearest?: string;
  readonly message: string;
}

/** More say no more: the file is another's. */
const MOST = 100;

interface KnownHere {
  /** The ids that an entry of `plugins` may have; without them none is looked at. */
  readonly plugins?: readonly string[] | undefined;
}

/** The same of a text whose variables nobody has to know. Throws what is no configuration at all. */
export function configWarnings(text: string, file: string, here: KnownHere = {}): ConfigWarning[] {
  const config = readConfigText(text, file);
  return warningsFor(config.value, config, here);
}

/** What the configuration says that nobody will hear. */
export function warningsFor(value: unknown, config: ConfigText, here: KnownHere = {}): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  for (const finding of findings(value, here)) {
    if (warnings.length === MOST) break;
    warnings.push(warning(finding, config));
  }
  return warnings;
}

interface Finding {
  readonly path: Path;
  readonly word: string;
  readonly known: readonly string[];
  readonly problem: string;
}

/** Where keys are ours to know. A `*` is every entry of a list or object. */
const places: readonly (readonly [Path, z.ZodObject])[] = [
  [[], configSchema],
  [["agents", "*"], agentSchema],
  [["agents", "*", "chat"], chatSchema],
  [["agents", "*", "chat", "config"], providerOptionsSchema],
  [["agents", "*", "external"], externalSchema],
  [["agents", "*", "toolApprovals"], toolApprovalsSchema],
  [["mcpServers", "*"], mcpServerSchema],
  [["limits"], limitsSchema],
];

function* findings(value: unknown, { plugins }: KnownHere): Generator<Finding> {
  for (const [pattern, schema] of places) {
    const known = Object.keys(schema.shape);
    for (const { path, found } of matches(value, pattern)) {
      for (const word of Object.keys(found)) {
        if (!known.includes(word))
          yield { path: [...path, word], word, known, problem: "is not a key that is known here" };
      }
    }
  }
  yield* unknownProviders(value);
  if (plugins) yield* unknownPlugins(value, plugins);
}

function* unknownProviders(value: unknown): Generator<Finding> {
  for (const { path, found } of matches(value, ["agents", "*", "chat"])) {
    const { provider } = found as { provider?: unknown };
    if (typeof provider !== "string" || provider.includes("${") || knownProviders.includes(provider))
      continue;
    yield {
      path: [...path, "provider"],
      word: provider,
      known: knownProviders,
      problem: "names no provider",
    };
  }
}

/** A server may be a project's alone: nobody knows all of their names. */
const OF_A_SERVER = /^mcp-/;

function* unknownPlugins(value: unknown, known: readonly string[]): Generator<Finding> {
  for (const { path, found } of matches(value, ["plugins"])) {
    for (const word of Object.keys(found)) {
      if (known.includes(word) || OF_A_SERVER.test(word)) continue;
      yield { path: [...path, word], word, known, problem: "names no plugin" };
    }
  }
}

interface Match {
  readonly path: Path;
  readonly found: object;
}

function* matches(value: unknown, [part, ...rest]: Path, path: Path = []): Generator<Match> {
  if (typeof value !== "object" || value === null) return;
  if (part === undefined) return yield { path, found: value };
  for (const [key, inner] of Object.entries(value)) {
    if (part !== "*" && part !== key) continue;
    yield* matches(inner, rest, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

function warning({ path, word, known, problem }: Finding, { file, lineOf }: ConfigText): ConfigWarning {
  const line = lineOf(path);
  const key = keyText(path);
  const meant = nearest(word, known);
  const question = meant === undefined ? "" : ` Did you mean "${meant}"?`;
  return {
    file,
    line,
    key,
    ...(meant !== undefined && { nearest: meant }),
    message: `${file}:${line}: ${key} ${problem}.${question}`,
  };
}
