export interface RpcMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>> & {
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

/** Which part of a request the newer protocol wants named in a header. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/** What streamable HTTP wants beside the message itself; over standard input a client says it nowhere else. */
export function headersOf(
  { method, params }: RpcMessage,
  agreed: string | undefined,
): Record<string, string> {
  const own = params?._meta?.[VERSION_KEY];
  const version = typeof own === "string" ? own : agreed;
  const name = method === undefined ? undefined : params?.[NAMED_BY[method] ?? ""];
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...(version !== undefined && { "MCP-Protocol-Version": version }),
    ...(typeof own === "string" && method !== undefined && { "Mcp-Method": method }),
    ...(typeof own === "string" && typeof name === "string" && { "Mcp-Name": headerValue(name) }),
  };
}

/** What a header can't hold as it is comes in base64, marked as such. */
function headerValue(text: string): string {
  const plain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?");
  return plain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
