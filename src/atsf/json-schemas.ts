import { z } from "zod";
import { message, projectConfig, threadEnvelope } from "./schemas.js";

const files = { atsf_config: projectConfig, atsf_thread: threadEnvelope, atsf_message: message };

/** The published JSON Schemas of the format's files by name: `config.json`, `thread.json`, a line of `messages.jsonl`. */
export function jsonSchemas(): Map<string, object> {
  return new Map(Object.entries(files).map(([title, schema]) => [title, { title, ...toJson(schema) }]));
}

function toJson(schema: z.ZodType): object {
  return z.toJSONSchema(schema, { io: "input", target: "draft-2020-12" });
}
