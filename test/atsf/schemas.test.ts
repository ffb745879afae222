import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { jsonSchemas, message, projectConfig, threadEnvelope } from "../../src/atsf/index.js";
import { accepts } from "./json-schema.js";

const schemas = Object.fromEntries(jsonSchemas()) as Record<string, Record<string, unknown>>;
const zods = { atsf_config: projectConfig, atsf_thread: threadEnvelope, atsf_message: message };
type Name = keyof typeof zods;

/** The schema as published and the one the library checks with, which must agree. */
function verdict(name: Name, value: unknown): boolean {
  const published = accepts(schemas[name] as Record<string, unknown>, value);
  expect(zods[name].safeParse(value).success, JSON.stringify(value)).toBe(published);
  return published;
}

type Json = Record<string, unknown>;

function without(value: Json, path: readonly (string | number)[]): Json {
  const copy = structuredClone(value);
  const holder = path.slice(0, -1).reduce<Json>((inner, key) => inner[key] as Json, copy);
  delete holder[path.at(-1) as string];
  return copy;
}

function withValue(value: Json, path: readonly (string | number)[], to: unknown): Json {
  const copy = structuredClone(value);
  const holder = path.slice(0, -1).reduce<Json>((inner, key) => inner[key] as Json, copy);
  holder[path.at(-1) as string] = to;
  return copy;
}

/** Every path of a value, itself not included. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(name) : name];
    return [here, ...pathsOf(inner, here)];
  });
}

const config = {
  specVersion: "1.1",
  createdBy: { name: "MyAgentApp", version: "1.0.0" },
  defaults: { agentId: "claude-code", useWorktree: true, interactionMode: "code" },
  agentSettings: { "claude-code": { model: "sonnet" } },
  worktreeHooks: {
    symlinks: [{ source: ".env.local" }, { source: "node_modules", target: "node_modules" }],
    postSetupCommands: [
      {
        command: "npm install",
        label: "Installing dependencies",
        timeout: 300000,
        continueOnError: false,
        platforms: ["linux"],
      },
    ],
    initialPrompt: "Read CONTRIBUTING.md and suggest what to work on next.",
  },
};

const thread = {
  specVersion: "1.0",
  threadId: "a1b2c3d4-e5f6-7890-abcd-ef1234567890",
  title: "Fix authentication bug",
  createdAt: "2025-02-14T10:30:00.000Z",
  updatedAt: "2025-02-14T11:45:00.000Z",
  agent: { id: "claude-code", name: "Claude Code", version: "1.0.0", protocol: "acp", protocolVersion: 1 },
  context: {
    workingDir: "/home/user/projects/myapp",
    relativeDir: ".",
    gitBranch: "main",
    gitCommit: "abc123def456",
    worktree: {
      path: "/home/user/.local/share/agentmanager/worktrees/myapp/thread-a1b2c3d4",
      branch: "am-a1b2c3d4",
    },
  },
  stats: { messageCount: 12, userMessageCount: 5, agentMessageCount: 7, toolCallCount: 23 },
  metadata: {},
};

const lines = [
  '{"id":"msg-001","role":"user","timestamp":"2025-02-14T10:30:00.000Z","content":[{"type":"text","text":"Fix the login bug in auth.ts"}]}',
  '{"id":"msg-002","role":"agent","timestamp":"2025-02-14T10:30:15.000Z","content":[{"type":"thinking","text":"Let me look at auth.ts..."},{"type":"text","text":"I found the issue..."}],"toolCalls":[{"toolCallId":"tc-001","name":"file_read","title":"Read auth.ts","status":"completed","input":"{\\"path\\":\\"src/auth.ts\\"}","output":"...file contents..."}],"stopReason":"end_turn"}',
].map((text) => JSON.parse(text) as Json);

const fullMessage: Json = {
  ...lines[1],
  model: "claude-sonnet-4-5-20250929",
  tokens: { input: 10, output: 20 },
  content: [
    { type: "text", text: "Hello world" },
    { type: "thinking", text: "Let me analyze this..." },
    { type: "image", assetRef: "sha256-a1b2c3d4e5f6g7h8.png", mimeType: "image/png" },
    { type: "tool_call_ref", toolCallId: "tc-001", step: 1 },
    { type: "later", anything: { goes: true } },
  ],
  toolCalls: [
    {
      toolCallId: "tc-001",
      name: "file_edit",
      title: "Edit",
      status: "completed",
      input: "{}",
      output: "done",
      duration: 12.5,
      diff: { path: "a.ts", oldText: "a", newText: "b" },
    },
  ],
};

test("[FMT1] the published schemas accept every example of the format, and are committed as the code makes them", () => {
  expect(verdict("atsf_config", config)).toBe(true);
  expect(verdict("atsf_thread", thread)).toBe(true);
  for (const each of [...lines, fullMessage]) expect(verdict("atsf_message", each)).toBe(true);
  expect(Object.keys(schemas)).toEqual(["atsf_config", "atsf_thread", "atsf_message"]);
  for (const [name, schema] of Object.entries(schemas)) {
    expect(JSON.parse(readFileSync(`schemas/${name}.json`, "utf8"))).toEqual(schema);
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
    expect(JSON.stringify(schema)).not.toContain('"additionalProperties":false');
  }
});

test("[FMT1] every object is open: a field more, anywhere, is accepted", () => {
  for (const [name, value] of [
    ["atsf_config", config],
    ["atsf_thread", thread],
    ["atsf_message", fullMessage],
  ] as [Name, Json][]) {
    const holders = [[], ...pathsOf(value)].filter((path) => {
      const held = path.reduce<unknown>((inner, key) => (inner as Json)[key], value);
      return typeof held === "object" && held !== null && !Array.isArray(held);
    });
    for (const path of holders)
      expect(verdict(name, withValue(value, [...path, "x-own"], { deep: [1] }))).toBe(true);
  }
});

/** The paths whose removal the schema refuses: its required fields, as they show. */
function requiredPaths(name: Name, value: Json): string[] {
  return pathsOf(value)
    .filter((path) => typeof path.at(-1) === "string" && !verdict(name, without(value, path)))
    .map((path) => path.join("."));
}

/** The paths whose value must be of the type it has there. */
function typedPaths(name: Name, value: Json): string[] {
  return pathsOf(value)
    .filter((path) => !verdict(name, withValue(value, path, null)))
    .map((path) => path.join("."));
}

test("[FMT2] config.json: required fields and types are those of its tables", () => {
  expect(requiredPaths("atsf_config", config)).toEqual([
    "specVersion",
    "createdBy.name",
    "createdBy.version",
    "worktreeHooks.symlinks.0.source",
    "worktreeHooks.symlinks.1.source",
    "worktreeHooks.postSetupCommands.0.command",
  ]);
  const open = ["agentSettings.claude-code", "agentSettings.claude-code.model"];
  const all = pathsOf(config).map((path) => path.join("."));
  expect(typedPaths("atsf_config", config)).toEqual(all.filter((path) => !open.includes(path)));
  expect(verdict("atsf_config", { specVersion: "1.1" })).toBe(true);
});

test("[FMT3] thread.json: required fields and types are those of its table", () => {
  expect(requiredPaths("atsf_thread", thread)).toEqual([
    "specVersion",
    "threadId",
    "title",
    "createdAt",
    "updatedAt",
    "agent",
    "agent.id",
    "agent.name",
    "context",
    "context.workingDir",
    "context.worktree.path",
    "context.worktree.branch",
    "stats",
    "stats.messageCount",
    "stats.userMessageCount",
    "stats.agentMessageCount",
    "stats.toolCallCount",
  ]);
  expect(typedPaths("atsf_thread", thread)).toEqual(pathsOf(thread).map((path) => path.join(".")));
  for (const time of ["yesterday", "2025-02-14", "2025-02-30T00:00:00Z", 5]) {
    expect(verdict("atsf_thread", { ...thread, createdAt: time })).toBe(false);
  }
});

test("[FMT4] a message, its blocks and its tool calls: required fields, types and words are those of the tables", () => {
  expect(requiredPaths("atsf_message", fullMessage)).toEqual([
    "id",
    "role",
    "timestamp",
    "content",
    "content.0.type",
    "content.0.text",
    "content.1.type",
    "content.1.text",
    "content.2.type",
    "content.2.assetRef",
    "content.2.mimeType",
    "content.3.type",
    "content.3.toolCallId",
    "content.4.type",
    "toolCalls.0.toolCallId",
    "toolCalls.0.name",
    "toolCalls.0.status",
    "toolCalls.0.diff.path",
    "toolCalls.0.diff.oldText",
    "toolCalls.0.diff.newText",
  ]);
  const all = pathsOf(fullMessage).map((path) => path.join("."));
  expect(typedPaths("atsf_message", fullMessage)).toEqual(
    all.filter((path) => !path.startsWith("content.4.anything")),
  );
  for (const [path, words, wrong] of [
    [["role"], ["user", "agent", "system"], "assistant"],
    [["toolCalls", 0, "status"], ["pending", "running", "completed", "failed"], "in_progress"],
  ] as const) {
    for (const word of words) expect(verdict("atsf_message", withValue(fullMessage, path, word))).toBe(true);
    expect(verdict("atsf_message", withValue(fullMessage, path, wrong))).toBe(false);
  }
  expect(verdict("atsf_message", { ...fullMessage, id: "" })).toBe(false);
});
