/** What can be written behind an option of a tool's command. `flag` stands alone. */
export type OptionKind = "text" | "whole" | "number" | "flag" | "choice" | "json";

/** A parameter of a tool, as an option of its command. */
export interface CommandOption {
  readonly key: string;
  /** Such as `--agent-id`. Undefined: it can be given within `--arguments` only. */
  readonly name: string | undefined;
  readonly kind: OptionKind;
  /** It may be given several times, and is a list. */
  readonly several: boolean;
  readonly choices: readonly string[];
  readonly required: boolean;
  readonly description: string;
  readonly byDefault: unknown;
}

/** What the command itself understands behind a tool's name: a parameter called so can't be an option. */
const RESERVED_OPTIONS = ["arguments", "help", "json", "thread", "workspace"] as const;

type Schema = Readonly<Record<string, unknown>>;

/** The options of a tool's command, from the JSON Schema of its parameters, in its order. */
export function commandOptions(parameters: Schema): readonly CommandOption[] {
  const entries = Object.entries(object(parameters.properties));
  const required = new Set(list(parameters.required));
  const names = entries.map(([key]) => optionName(key));
  return entries.map(([key, value], index) => {
    const schema = resolved(object(value), parameters);
    const items = branchesOf(schema, parameters).find(({ type }) => type === "array");
    const { kind, choices } = kindOf(items ? object(items.items) : schema, parameters);
    const name = names[index];
    // Two parameters of one name: which was meant could not be told.
    const clear = name !== undefined && names.filter((other) => other === name).length === 1;
    return {
      key,
      name: clear ? name : undefined,
      kind: items && kind === "flag" ? "json" : kind,
      several: items !== undefined,
      choices,
      required: required.has(key),
      description: typeof schema.description === "string" ? schema.description : "",
      byDefault: schema.default,
    };
  });
}

/** `agentId` and `agent_id` are `--agent-id`. */
function optionName(key: string): string | undefined {
  const name = key
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .replaceAll("_", "-")
    .toLowerCase();
  const usable =
    /^[a-z0-9][a-z0-9-]{0,63}$/.test(name) && !(RESERVED_OPTIONS as readonly string[]).includes(name);
  return usable ? `--${name}` : undefined;
}

const KINDS: Readonly<Record<string, OptionKind>> = {
  string: "text",
  integer: "whole",
  number: "number",
  boolean: "flag",
};

/** Where several kinds fit, text is text: whatever looks like JSON in it may be meant as it is. */
function kindOf(schema: Schema, root: Schema): { kind: OptionKind; choices: readonly string[] } {
  const branches = branchesOf(schema, root);
  const choices = branches.flatMap(choicesOf);
  if (branches.length > 0 && branches.every((branch) => choicesOf(branch).length > 0)) {
    return { kind: "choice", choices };
  }
  const kinds = new Set(branches.map(({ type }) => KINDS[String(type)] ?? "json"));
  const [only = "json"] = kinds;
  if (kinds.size <= 1) return { kind: only, choices: [] };
  return { kind: kinds.has("text") ? "text" : "json", choices: [] };
}

function choicesOf(schema: Schema): readonly string[] {
  const values = "const" in schema ? [schema.const] : list(schema.enum);
  return values.every((value) => typeof value === "string") ? (values as string[]) : [];
}

/** What a value may be, without `null`: that is what leaving an option out means. */
function branchesOf(schema: Schema, root: Schema): readonly Schema[] {
  const found = resolved(schema, root);
  const several = [...list(found.anyOf), ...list(found.oneOf)].map((branch) =>
    resolved(object(branch), root),
  );
  const branches = several.length > 0 ? several : [found];
  return branches
    .flatMap((branch) =>
      Array.isArray(branch.type) ? branch.type.map((type) => ({ ...branch, type })) : [branch],
    )
    .filter(({ type }) => type !== "null");
}

/** One step is enough: what leads further is given as JSON. */
function resolved(schema: Schema, root: Schema): Schema {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(schema.$ref)) ?? [];
  if (place === undefined || name === undefined) return schema;
  const { $ref: _, ...beside } = schema;
  return { ...object(object(root[place])[name]), ...beside };
}

function object(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
