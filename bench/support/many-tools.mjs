import { createInterface } from "node:readline";

/** An MCP server over standard input and output that offers as many tools as it is told. */
const tools = Array.from({ length: Number(process.argv[2]) }, (_, number) => ({
  name: `tool_${number}`,
  description: `Does the thing that has the number ${number}, and tells what came of it in a few words.`,
  inputSchema: {
    type: "object",
    properties: {
      what: { type: "string", description: "what it is done to" },
      how: { type: "string", enum: ["slowly", "quickly"] },
    },
    required: ["what"],
  },
  annotations: { readOnlyHint: true },
}));

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "many-tools", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const outcome = answer
    ? { result: answer(params) }
    : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
}
