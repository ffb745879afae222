import { configJsonSchema } from "../src/agents/index.js";
import { jsonSchemas as fileSchemas } from "../src/atsf/index.js";
import { jsonSchemas as wireSchemas } from "../src/protocol/index.js";
import { protocolReference } from "./protocol-reference.js";
import { toolsReference } from "./tools-reference.js";

/** For editors of `heddle.config.json`. */
const CONFIG = ["heddle_config", configJsonSchema()] as const;

/** Every generated file with the text it should have. `npm run generate` writes them; a test compares them. */
export function generatedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, schema] of [...wireSchemas(), ...fileSchemas(), CONFIG]) {
    files.set(`schemas/${name}.json`, `${JSON.stringify(schema, null, 2)}\n`);
  }
  files.set("docs/protocol.md", protocolReference());
  files.set("docs/tools.md", toolsReference());
  return files;
}
