import type { CallToolResult, Tool } from "@modelcontextprotocol/server";

/** What a client sees of the gateway: it depends on the token it came in with. */
export interface Face {
  /** What the client's model is told of it. */
  readonly instructions: string;
  list(): Promise<Tool[]>;
  /** The signal fires when the client does not want the answer any more. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<CallToolResult>;
}

export function inWords(text: string, isError = false): CallToolResult {
  return { content: [{ type: "text", text }], ...(isError && { isError }) };
}
