import { jsonSchemas, methods, notifications, schemaName } from "../src/protocol/index.js";

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
}

/** `docs/protocol.md`: every method, notification and shape of the wire, from the schemas. */
export function protocolReference(): string {
  const schemas = jsonSchemas() as Map<string, JsonSchema>;
  const get = (name: string) => schemas.get(name) as JsonSchema;
  const out = [
    "# Protocol reference",
    "",
    "Generated from `src/protocol` by `npm run generate`. How to connect and what holds for every call is in",
    "[the guide](guide/protocol.md); errors are in [errors.md](errors.md). Each shape is also a JSON Schema under",
    "`schemas/`, served at `/schemas/<name>.json`. In params, `null` means the same as absent unless a line says otherwise.",
    "",
    "## Methods",
  ];
  for (const [method, { summary }] of Object.entries(methods)) {
    const base = schemaName(method);
    out.push("", `### \`${method}\``, "", summary, "", `Params (\`${base}_params\`):`, "");
    out.push(...fields(get(`${base}_params`)), "", `Result (\`${base}_response\`):`, "");
    out.push(...fields(get(`${base}_response`)));
  }
  out.push("", "## Notifications");
  for (const method of Object.keys(notifications)) {
    const name = `${schemaName(method)}_notification`;
    out.push("", `### \`${method}\``, "", get(name).description ?? "", "", `Params (\`${name}\`):`, "");
    out.push(...fields(get(name)));
  }
  out.push("", "## Shapes");
  for (const [name, schema] of schemas) {
    if (/_(params|response|notification)$/.test(name)) continue;
    out.push("", `### \`${name}\``, "");
    if (schema.description) out.push(schema.description, "");
    out.push(...(schema.properties ? fields(schema) : [typeName(schema)]));
  }
  return `${out.join("\n")}\n`;
}

function fields(schema: JsonSchema): string[] {
  const properties = Object.entries(schema.properties ?? {});
  if (properties.length === 0) return ["none"];
  const rows = properties.map(([key, field]) => {
    const required = schema.required?.includes(key) ? "yes" : "";
    return `| \`${key}\` | ${typeName(field)} | ${required} | ${describe(field)} |`;
  });
  return ["| Field | Type | Required | |", "|---|---|---|---|", ...rows];
}

function describe({ description, anyOf }: JsonSchema): string {
  const told = description ?? anyOf?.find((each) => each.description)?.description ?? "";
  return told.replaceAll("|", "\\|");
}

/** Objects that are a shape of their own are named, not spelled out again. */
function typeName(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(" ");
  if (schema.anyOf) {
    const types = schema.anyOf.filter((each) => each.type !== "null").map(typeName);
    return [...new Set(types)].join(" or ");
  }
  if (schema.type === "array") return `array of ${typeName(schema.items ?? {})}`;
  if (schema.type !== "object") return schema.type ?? "any";
  const shape = shapeNames().get(JSON.stringify(schema.properties));
  if (shape) return `[\`${shape}\`](#${shape})`;
  if (!schema.properties) return "object";
  const keys = Object.entries(schema.properties).map(
    ([key, field]) => `\`${key}\`${schema.required?.includes(key) ? "" : "?"}: ${typeName(field)}`,
  );
  return `{ ${keys.join(", ")} }`;
}

let names: Map<string, string> | undefined;

function shapeNames(): Map<string, string> {
  if (names) return names;
  names = new Map();
  for (const [name, schema] of jsonSchemas() as Map<string, JsonSchema>) {
    const shape = schema.properties && !/_(params|response|notification)$/.test(name);
    if (shape) names.set(JSON.stringify(schema.properties), name);
  }
  return names;
}
