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
import { type ConfigText, keyText, type Path } from "./config-text.js";
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

/** What the configuration says that nobody will hear. */
export function warningsFor(value: unknown, config: ConfigText): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  for (const finding of findings(value)) {
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

function* findings(value: unknown): Generator<Finding> {
  for (const [pattern, schema] of places) {
    const known = Object.keys(schema.shape);
    for (const { path, found } of matches(value, pattern)) {
      for (const word of Object.keys(found)) {
        if (!known.includes(word))
          yield { path: [...path, word], word, known, problem: "is not a key that is known here" };
      }
    }
  }
  for (const { path, found } of matches(value, ["agents", "*", "chat"])) {
    const { provider } = found as { provider?: string };
    if (provider === undefined || knownProviders.includes(provider)) continue;
    yield {
      path: [...path, "provider"],
      word: provider,
      known: knownProviders,
      problem: "names no provider",
    };
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
