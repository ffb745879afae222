import { join } from "node:path";
import { rolldown } from "rolldown";

/** The program of `mcp-child.ts`, below the directory of a test run. */
export const MCP_CHILD = "mcp-child.mjs";

/** As plain files: many tests start them, and through a loader each start takes five times as long. */
export async function bundleChildren(directory: string): Promise<void> {
  const bundle = await rolldown({
    input: "test/support/mcp-child.ts",
    platform: "node",
    logLevel: "silent",
  });
  await bundle.write({ file: join(directory, MCP_CHILD), format: "esm", codeSplitting: false });
  await bundle.close();
}
