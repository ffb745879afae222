import { z } from "zod";
import * as agents from "./agents.js";
import * as doc from "./agents-doc.js";
import { type MethodName, methods } from "./methods.js";
import { notifications } from "./notifications.js";
import * as prompts from "./prompts.js";
import { rpcError } from "./rpc.js";
import * as runs from "./runs.js";
import * as file from "./threads.js";
import * as tree from "./tree.js";

const entities: Record<string, z.ZodType> = {
  workspace: tree.workspace,
  folder: tree.folder,
  placement: tree.placement,
  thread: tree.thread,
  thread_status: tree.threadStatus,
  thread_config: tree.threadConfig,
  thread_setup: file.threadSetup,
  message: file.message,
  thread_agents_doc_status: doc.agentsDocStatus,
  thread_agents_doc_save_reason: doc.agentsDocSaveReason,
  thread_agents_doc_payload: doc.agentsDocPayload,
  thread_agents_doc_summary: doc.agentsDocSummary,
  thread_agents_doc_resolved_payload: doc.agentsDocResolvedPayload,
  run: runs.run,
  prompt_manifest: prompts.manifest,
  prompt_snapshot: prompts.promptSnapshot,
  agent: agents.agent,
  tool: agents.tool,
  rpc_error: rpcError,
};

/** Every published JSON Schema by file name (without `.json`). */
export function jsonSchemas(): Map<string, object> {
  const all = new Map<string, object>();
  for (const [name, schema] of Object.entries(entities)) all.set(name, toJson(name, schema, "output"));
  for (const [method, { params, result }] of Object.entries(methods)) {
    const base = schemaName(method as MethodName);
    all.set(`${base}_params`, toJson(`${base}_params`, params, "input"));
    all.set(`${base}_response`, toJson(`${base}_response`, result, "output"));
  }
  for (const [method, schema] of Object.entries(notifications)) {
    const name = `${schemaName(method)}_notification`;
    all.set(name, toJson(name, schema, "output"));
  }
  return all;
}

/** `thread/agents_doc/get` becomes `thread_agents_doc_get`. */
export function schemaName(method: string): string {
  return method.replaceAll("/", "_");
}

function toJson(title: string, schema: z.ZodType, io: "input" | "output"): object {
  return { title, ...z.toJSONSchema(schema, { io, override: ({ jsonSchema }) => allowGrowth(jsonSchema) }) };
}

/** Payloads may grow optional fields: a client that validates with today's schema must accept tomorrow's. */
function allowGrowth(schema: { additionalProperties?: unknown }): void {
  if (schema.additionalProperties === false) delete schema.additionalProperties;
}
