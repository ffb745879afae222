/** A second opinion: a validator of the few keywords our published schemas use. Any other keyword fails loudly. */
type Schema = Readonly<Record<string, unknown>>;
type Check = (value: unknown, argument: never, schema: Schema) => boolean;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const types: Record<string, (value: unknown) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
};

const keywords: Record<string, Check> = {
  $schema: (_, uri: string) => uri === "https://json-schema.org/draft/2020-12/schema",
  title: () => true,
  description: () => true,
  format: () => true,
  type: (value, name: string) => types[name]?.(value) === true,
  enum: (value, allowed: unknown[]) => allowed.includes(value),
  const: (value, only) => value === only,
  not: (value, inner: Schema) => !accepts(inner, value),
  anyOf: (value, inner: Schema[]) => inner.some((each) => accepts(each, value)),
  required: (value, names: string[]) => !isObject(value) || names.every((name) => Object.hasOwn(value, name)),
  properties: (value, inner: Record<string, Schema>) =>
    !isObject(value) ||
    Object.entries(inner).every(([name, each]) => !Object.hasOwn(value, name) || accepts(each, value[name])),
  propertyNames: (value, inner: Schema) =>
    !isObject(value) || Object.keys(value).every((name) => accepts(inner, name)),
  additionalProperties: (value, inner: Schema, { properties }) =>
    !isObject(value) ||
    Object.keys(value).every((name) => Object.hasOwn(properties ?? {}, name) || accepts(inner, value[name])),
  items: (value, inner: Schema) => !Array.isArray(value) || value.every((each) => accepts(inner, each)),
  pattern: (value, source: string) => typeof value !== "string" || new RegExp(source, "u").test(value),
  minLength: (value, least: number) => typeof value !== "string" || [...value].length >= least,
  minimum: (value, least: number) => typeof value !== "number" || value >= least,
  maximum: (value, most: number) => typeof value !== "number" || value <= most,
};

export function accepts(schema: Schema, value: unknown): boolean {
  return Object.entries(schema).every(([name, argument]) => {
    const check = keywords[name];
    if (!check) throw new Error(`the published schemas use ${name}, which this validator does not know`);
    return check(value, argument as never, schema);
  });
}
