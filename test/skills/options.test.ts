import { expect, test } from "vitest";
import { z } from "zod";
import { commandOptions } from "../../src/tools/index.js";
import { schemaOf } from "./support.js";

const kinds = (parameters: Readonly<Record<string, unknown>>) =>
  commandOptions(parameters).map(({ name, kind, several }) => [name, kind, several]);

test("[TCM10] each parameter is an option of its kind, in the schema's order", () => {
  const schema = schemaOf(
    z.object({
      text: z.string().describe("what it says"),
      count: z.int().optional(),
      ratio: z.number().optional(),
      deep: z.boolean().default(true),
      color: z.enum(["red", "blue"]),
      tags: z.array(z.string()).optional(),
      colors: z.array(z.enum(["red", "blue"])).optional(),
      numbers: z.array(z.int()).optional(),
      filter: z.object({ a: z.string() }).optional(),
      things: z.array(z.object({ a: z.string() })).optional(),
      anything: z.unknown().optional(),
    }),
  );
  expect(kinds(schema)).toEqual([
    ["--text", "text", false],
    ["--count", "whole", false],
    ["--ratio", "number", false],
    ["--deep", "flag", false],
    ["--color", "choice", false],
    ["--tags", "text", true],
    ["--colors", "choice", true],
    ["--numbers", "whole", true],
    ["--filter", "json", false],
    ["--things", "json", true],
    ["--anything", "json", false],
  ]);
  const [text, , , deep, color] = commandOptions(schema);
  expect(text).toMatchObject({
    key: "text",
    required: true,
    description: "what it says",
    byDefault: undefined,
  });
  expect(deep).toMatchObject({ required: false, byDefault: true });
  expect(color).toMatchObject({ required: true, choices: ["red", "blue"] });
});

test("[TCM10] what may be left out as null, one of several, or named elsewhere in the schema has the kind of the rest", () => {
  const schema = {
    properties: {
      due: { anyOf: [{ type: "string" }, { type: "null" }] },
      size: { type: ["integer", "null"] },
      either: { anyOf: [{ type: "number" }, { type: "string" }] },
      complex: { oneOf: [{ type: "object" }, { type: "boolean" }] },
      level: { anyOf: [{ const: "low" }, { const: "high" }] },
      mixed: { enum: ["a", 1] },
      ref: { $ref: "#/$defs/word", description: "a word" },
      lost: { $ref: "#/$defs/none" },
      odd: true,
    },
    $defs: { word: { type: "string", description: "of the definition" } },
  };
  expect(kinds(schema)).toEqual([
    ["--due", "text", false],
    ["--size", "whole", false],
    ["--either", "text", false],
    ["--complex", "json", false],
    ["--level", "choice", false],
    ["--mixed", "json", false],
    ["--ref", "text", false],
    ["--lost", "json", false],
    ["--odd", "json", false],
  ]);
  expect(commandOptions(schema)[6]?.description).toBe("a word");
});

test("[TCM11] words of a name are joined by dashes; what can't be an option is given within --arguments", () => {
  const names = (...keys: string[]) =>
    commandOptions({ properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])) }).map(
      ({ name }) => name,
    );
  expect(names("agentId", "due_date", "includeContext2", "x")).toEqual([
    "--agent-id",
    "--due-date",
    "--include-context2",
    "--x",
  ]);
  const none = [
    "json",
    "arguments",
    "thread",
    "workspace",
    "help",
    "a b",
    "ä",
    "-x",
    "a\nb",
    "",
    "x".repeat(65),
  ];
  expect(names(...none)).toEqual(none.map(() => undefined));
  expect(names("a_b", "aB", "c")).toEqual([undefined, undefined, "--c"]);
});

test("[TCM10] a schema that is none has no options", () => {
  for (const schema of [
    {},
    { properties: null },
    { properties: [] },
    { properties: { a: null }, required: "a" },
  ]) {
    expect(() => commandOptions(schema as never)).not.toThrow();
  }
  expect(commandOptions({ type: "object" })).toEqual([]);
});
