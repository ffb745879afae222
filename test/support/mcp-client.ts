import { type CallToolResult, Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "vitest";

type Mode = "legacy" | "auto";

export interface McpGiven {
  readonly url: string;
  readonly token: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Which handshake: the older one, or the newer where it is known. */
  readonly mode?: Mode;
}

/** The official client at `/mcp`, for as long as the test takes. */
export async function mcpClient({ url, token, headers = {}, mode = "legacy" }: McpGiven): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close().catch(() => {}));
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { Authorization: `Bearer ${token}`, ...headers } },
    }),
  );
  return client;
}

/** The text of a result. */
export function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The same, read as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
export function jsonOf(result: CallToolResult): any {
  return JSON.parse(textOf(result));
}
