import { z } from "zod";
import { plainWords } from "../base/index.js";
import { toolError } from "./errors.js";
import { quoted } from "./quoted.js";
import { isBuiltIn, type ToolDefinition } from "./tool.js";

/** A tool as lists, prompts and providers see it. */
export interface ListedTool {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** A JSON Schema of an object, without `$schema`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly string[];
  readonly safeToRepeat: boolean;
  readonly asks?: boolean;
  readonly plugin?: string;
}

export interface RegisteredTool {
  readonly definition: ToolDefinition;
  readonly listed: ListedTool;
}

const RESERVED = "system_";

/** Checks a definition and takes a copy that its owner can't change any more: its capabilities were checked as they are now. */
export function acceptDefinition(given: ToolDefinition, pluginId?: string): RegisteredTool {
  const parsed = definitionSchema.safeParse(given, { error: plainWords });
  if (!parsed.success) throw invalid(given?.name, problemOf(parsed.error));
  const { name, title, description, capabilities, safeToRepeat, asks, mostOutputBytes } = parsed.data;
  const plugin = pluginId ?? parsed.data.plugin;
  if (name.startsWith(RESERVED)) {
    if (!isBuiltIn(given)) throw nameReserved(name);
  } else if (capabilities.length === 0) throw noCapability(name);
  const parameters = strict(parsed.data.parameters);
  const listed: ListedTool = {
    name,
    ...(title !== undefined && { title }),
    description,
    parameters: shownSchema(given) ?? jsonSchemaOf(name, parameters),
    capabilities,
    safeToRepeat,
    ...(asks && { asks }),
    ...(plugin !== undefined && { plugin }),
  };
  const definition = Object.freeze({
    ...listed,
    ...(mostOutputBytes !== undefined && { mostOutputBytes }),
    parameters,
    run: given.run.bind(given),
  });
  return { definition, listed: freeze(listed) };
}

/** Every output is told to a model, and kept. */
const MOST_BYTES_EVER = 1024 * 1024;

/** A `*` in a list of capabilities stops at a slash: one that holds a slash would slip past `["*"]`. */
const capability = z
  .string()
  .max(200)
  .regex(/^[^\s/]+$/, "must be a word without spaces and slashes");

const definitionSchema = z.object({
  name: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,63}$/, "must be 1 to 64 of a-z, 0-9 and underscores, a letter first"),
  title: z.string().optional(),
  description: z.string(),
  parameters: z.instanceof(z.ZodObject, { error: "must be a zod object" }),
  capabilities: z.array(capability).max(64),
  safeToRepeat: z.boolean(),
  asks: z.boolean().optional(),
  mostOutputBytes: z.int().min(65_536).max(MOST_BYTES_EVER).optional(),
  plugin: z.string().min(1).optional(),
  run: z.custom((value) => typeof value === "function", "must be a function"),
});

/** A key that is dropped without a word is a misspelt one nobody hears of. A schema that takes any key keeps doing so. */
function strict(parameters: z.ZodObject): z.ZodObject {
  return parameters.def.catchall === undefined ? parameters.strict() : parameters;
}

/** A copy: whoever gave it must not change what models are shown. */
function shownSchema({ jsonSchema }: ToolDefinition): Readonly<Record<string, unknown>> | undefined {
  return jsonSchema === undefined ? undefined : JSON.parse(JSON.stringify(jsonSchema));
}

function jsonSchemaOf(name: string, parameters: z.ZodObject): Readonly<Record<string, unknown>> {
  try {
    const { $schema, ...schema } = z.toJSONSchema(parameters, { io: "input" });
    return JSON.parse(JSON.stringify(schema));
  } catch (error) {
    throw invalid(name, `parameters have no JSON Schema: ${(error as Error).message}`);
  }
}

/** One list is handed to everybody: whoever writes into it would change the next prompt. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

function problemOf({ issues }: z.ZodError): string {
  return issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join(".") || "it"}: ${message}`)
    .join("; ");
}

function invalid(given: unknown, problem: string) {
  const name = typeof given === "string" ? given.slice(0, 100).toWellFormed() : "(without a name)";
  return toolError(
    { kind: "tool.invalid_definition", name, problem },
    `The tool ${quoted(name)} can't be registered: ${problem}.`,
  );
}

function nameReserved(name: string) {
  return toolError(
    { kind: "tool.name_reserved", name },
    `The tool ${name} can't be registered: names with ${RESERVED} are Heddle's own. Choose another.`,
  );
}

/** Lists of capabilities would let it through: what needs nothing is allowed to everyone. */
function noCapability(name: string) {
  return toolError(
    { kind: "tool.no_capability", name },
    `The tool ${name} can't be registered: it declares no capability. Name what an agent must be allowed to do to call it.`,
  );
}
