import { z } from "zod";
import { configSchema } from "./config-schema.js";

/** The JSON Schema of `heddle.config.json`, in the version that editors know best. */
export function configJsonSchema(): object {
  return {
    title: "heddle_config",
    description: "Heddle's configuration: its agents, plugins, MCP servers, hooks and limits.",
    // Not of JSON Schema: an editor that knows them leaves comments and trailing commas alone.
    allowComments: true,
    allowTrailingCommas: true,
    ...z.toJSONSchema(configSchema, { io: "input", target: "draft-7" }),
  };
}
