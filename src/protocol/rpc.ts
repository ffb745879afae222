import { z } from "zod";

/** Codes of JSON-RPC 2.0 and the two of Heddle's own. */
export const RPC_CODES = {
  parse: -32700,
  invalid_request: -32600,
  unknown_method: -32601,
  invalid_params: -32602,
  internal: -32603,
  overloaded: -32001,
  forbidden: -32003,
} as const;

export const rpcError = z
  .object({
    code: z.int(),
    message: z.string(),
    data: z.looseObject({ kind: z.string().describe("from docs/errors.md") }),
  })
  .describe("The error of a JSON-RPC answer. `kind` is stable; the message is for people.");

export type RpcId = string | number;
export type RpcError = z.output<typeof rpcError>;
