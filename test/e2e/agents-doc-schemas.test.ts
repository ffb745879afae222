import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { methods, notifications } from "../../src/protocol/index.js";
import { type Stage, stageOn } from "../support/agents-doc.js";
import * as examples from "../support/agents-doc-examples.js";
import { onEitherStore } from "../support/stores.js";

/** The list of 001. */
const FOURTEEN = [
  "thread_agents_doc_status",
  "thread_agents_doc_save_reason",
  "thread_agents_doc_payload",
  "thread_agents_doc_summary",
  "thread_agents_doc_resolved_payload",
  "thread_agents_doc_get_params",
  "thread_agents_doc_get_response",
  "thread_agents_doc_save_params",
  "thread_agents_doc_save_response",
  "thread_agents_doc_archive_params",
  "thread_agents_doc_archive_response",
  "thread_agents_doc_resolve_for_thread_params",
  "thread_agents_doc_resolve_for_thread_response",
  "thread_agents_doc_changed_notification",
] as const;

type Name = (typeof FOURTEEN)[number];

/** Every example of 001 under the schema it belongs to. */
const FITTING: readonly [Name, unknown][] = [
  ["thread_agents_doc_status", "draft"],
  ["thread_agents_doc_status", "active"],
  ["thread_agents_doc_status", "archived"],
  ["thread_agents_doc_save_reason", "autosave"],
  ["thread_agents_doc_save_reason", "manual"],
  ["thread_agents_doc_payload", examples.payload],
  ["thread_agents_doc_payload", examples.resolved.doc],
  ["thread_agents_doc_payload", examples.get.response.explicit],
  ["thread_agents_doc_summary", examples.summary],
  ["thread_agents_doc_resolved_payload", examples.resolved],
  ["thread_agents_doc_resolved_payload", examples.resolveForThread.response.effective],
  ["thread_agents_doc_get_params", examples.get.request.params],
  ["thread_agents_doc_get_params", examples.getRoot.params],
  ["thread_agents_doc_get_response", examples.get.response],
  ["thread_agents_doc_get_response", {}],
  ["thread_agents_doc_save_params", examples.save.request.params],
  ["thread_agents_doc_save_response", examples.save.response],
  ["thread_agents_doc_archive_params", examples.archive.request.params],
  ["thread_agents_doc_archive_response", examples.archive.response],
  ["thread_agents_doc_archive_response", { archived: false }],
  ["thread_agents_doc_resolve_for_thread_params", examples.resolveForThread.request.params],
  ["thread_agents_doc_resolve_for_thread_response", examples.resolveForThread.response],
  ["thread_agents_doc_changed_notification", examples.changed.params],
  ["thread_agents_doc_changed_notification", { ...examples.changed.params, seq: 7 }],
];

/** What a schema that accepted anything would accept too. */
const BROKEN: readonly [Name, unknown][] = [
  ["thread_agents_doc_status", "deleted"],
  ["thread_agents_doc_save_reason", "archive"],
  ["thread_agents_doc_payload", { ...examples.payload, folder_id: null }],
  ["thread_agents_doc_payload", { ...examples.payload, version: "3" }],
  ["thread_agents_doc_payload", { ...examples.payload, version: 1.5 }],
  ["thread_agents_doc_summary", { ...examples.summary, char_count: -1 }],
  ["thread_agents_doc_resolved_payload", { ...examples.resolved, source_path: [1] }],
  ["thread_agents_doc_get_params", { folder_id: "fld_1" }],
  ["thread_agents_doc_get_params", { workspace_id: "ws_1", folder_id: "" }],
  ["thread_agents_doc_get_response", { explicit: null }],
  ["thread_agents_doc_save_params", { workspace_id: "ws_1" }],
  ["thread_agents_doc_save_response", {}],
  ["thread_agents_doc_archive_params", { workspace_id: "ws_1", expected_version: -1 }],
  ["thread_agents_doc_archive_response", { archived: "yes" }],
  ["thread_agents_doc_resolve_for_thread_params", { workspace_id: "ws_1" }],
  ["thread_agents_doc_resolve_for_thread_response", { effective: {} }],
  ["thread_agents_doc_changed_notification", { ...examples.changed.params, effective_changed: 1 }],
];

interface JsonSchema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const types: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isObject,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  null: (value) => value === null,
};

type Checks = { readonly [K in keyof Required<JsonSchema>]: (schema: JsonSchema, value: unknown) => boolean };

const checks: Checks = {
  type: (schema, value) => types[schema.type ?? ""]?.(value) ?? false,
  properties: ({ properties = {} }, value) =>
    !isObject(value) ||
    Object.entries(value).every(([key, item]) => !properties[key] || fits(properties[key], item)),
  required: ({ required = [] }, value) => !isObject(value) || required.every((key) => key in value),
  additionalProperties: ({ properties = {} }, value) =>
    !isObject(value) || Object.keys(value).every((key) => key in properties),
  items: ({ items = {} }, value) => !Array.isArray(value) || value.every((item) => fits(items, item)),
  anyOf: ({ anyOf = [] }, value) => anyOf.some((schema) => fits(schema, value)),
  enum: (schema, value) => schema.enum?.includes(value) ?? false,
  const: (schema, value) => value === schema.const,
  pattern: ({ pattern = "" }, value) => typeof value !== "string" || new RegExp(pattern, "u").test(value),
  minimum: ({ minimum = 0 }, value) => typeof value !== "number" || value >= minimum,
  maximum: ({ maximum = 0 }, value) => typeof value !== "number" || value <= maximum,
};

const ANNOTATIONS = new Set(["$schema", "title", "description"]);

/** As much of JSON Schema as these files use; a word it does not know is an error, not a pass. */
function fits(schema: JsonSchema, value: unknown): boolean {
  return Object.keys(schema)
    .filter((word) => !ANNOTATIONS.has(word))
    .every((word) => {
      const check = checks[word as keyof JsonSchema];
      if (!check) throw new Error(`this check does not know "${word}"`);
      return check(schema, value);
    });
}

function committed(name: string): JsonSchema {
  return JSON.parse(readFileSync(`schemas/${name}.json`, "utf8"));
}

test.each(FOURTEEN)("[API47] schemas/%s.json is committed", (name) => {
  expect(committed(name)).toMatchObject({ title: name, type: expect.any(String) });
});

test.each(FITTING.map(([name, example], index) => ({ index, name, example })))(
  "[API48] example $index of 001 fits $name",
  ({ name, example }) => {
    expect(fits(committed(name), examples.complete(example))).toBe(true);
  },
);

test.each(BROKEN.map(([name, example], index) => ({ index, name, example })))(
  "[API48] broken example $index does not fit $name",
  ({ name, example }) => {
    expect(fits(committed(name), examples.complete(example))).toBe(false);
  },
);

test("[API10] [API11] the schemas name three statuses and two save reasons", () => {
  expect(committed("thread_agents_doc_status").enum).toEqual(["draft", "active", "archived"]);
  expect(committed("thread_agents_doc_save_reason").enum).toEqual(["autosave", "manual"]);
});

test("[API3] every field of every schema is snake_case", () => {
  const names = new Set<string>();
  const collect = (schema: JsonSchema): void => {
    for (const [name, inner] of Object.entries(schema.properties ?? {})) {
      names.add(name);
      collect(inner);
    }
    if (schema.items) collect(schema.items);
    for (const inner of schema.anyOf ?? []) collect(inner);
  };
  // Messages and the configuration are file content: they keep the names their files have.
  const own = readdirSync("schemas").filter((file) => !/^(atsf_|heddle_config)/.test(file));
  for (const file of own) collect(committed(file.replace(/\.json$/, "")));
  expect(names.size).toBeGreaterThan(20);
  names.delete("toolCalls");
  names.delete("mimeType");
  expect([...names].filter((name) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(name))).toEqual([]);
});

test("[API3] [DOC8] every method and notification of the family has schemas and an entry in the reference", () => {
  const reference = readFileSync("docs/protocol.md", "utf8");
  const own = (names: object) => Object.keys(names).filter((name) => name.startsWith("thread/agents_doc/"));
  expect(own(methods).map((name) => name.replace("thread/agents_doc/", ""))).toEqual([
    "get",
    "save",
    "archive",
    "resolve_for_thread",
    "revisions",
    "revision",
    "restore",
  ]);
  expect(own(notifications)).toEqual(["thread/agents_doc/changed"]);
  for (const name of [...own(methods), ...own(notifications)]) expect(reference).toContain(`\`${name}\``);
  const files = [
    ...own(methods).flatMap((name) => [`${name}/params`, `${name}/response`]),
    ...own(notifications).map((name) => `${name}/notification`),
  ];
  const missing = files.filter((name) => !existsSync(`schemas/${name.replaceAll("/", "_")}.json`));
  expect(missing).toEqual([]);
});

onEitherStore("schemas over HTTP", (kind) => {
  served(stageOn(kind));
});

function served({ gateway }: Stage): void {
  test.each(FOURTEEN)("[API47] /schemas/%s.json is served without a token, as committed", async (name) => {
    const response = await fetch(`${gateway().url}/schemas/${name}.json`);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      200,
      expect.stringMatching(/^application\/(schema\+)?json/),
    ]);
    expect(await response.json()).toEqual(committed(name));
  });
}
