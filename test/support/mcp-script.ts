import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type CallToolResult, Server, type Tool } from "@modelcontextprotocol/server";

/** What a scripted MCP server offers and how it behaves: what goes wrong with servers, on purpose. */
export interface McpScript {
  readonly tools?: readonly ScriptedTool[];
  /** So many more, called `tool_0000` and on. */
  readonly many?: number;
  readonly pageSize?: number;
  /** Every page names itself as the next. */
  readonly circle?: boolean;
  /** Milliseconds between two notices that the list has changed. */
  readonly changingMs?: number;
  /** A line is added to this file for every list, call and cancellation. */
  readonly trace?: string;
  readonly instead?: "lists nothing" | "hangs at list" | "fails at list";
}

export interface ScriptedTool {
  readonly name: string;
  readonly does?:
    | "echo"
    | "crash"
    | "hang"
    | "fail"
    | "huge"
    | "throw"
    | "env"
    | "add"
    | "progress"
    | "talk"
    | "answer";
  readonly description?: string;
  readonly longDescription?: number;
  readonly inputSchema?: unknown;
  readonly annotations?: Tool["annotations"];
  /** What `answer` answers. */
  readonly answer?: CallToolResult;
}

const anything = { type: "object", properties: { text: { type: "string" } } };

export function scriptedServer(script: McpScript): Server {
  const added: ScriptedTool[] = [];
  const trace = (line: string) => script.trace && appendFileSync(script.trace, `${line}\n`);
  const server = new Server(
    { name: "scripted", version: "1.0.0" },
    { capabilities: script.instead === "lists nothing" ? {} : { tools: { listChanged: true } } },
  );
  const all = () => [...(script.tools ?? []), ...numbered(script.many ?? 0), ...added];
  if (script.instead !== "lists nothing") {
    server.setRequestHandler("tools/list", async ({ params }) => {
      trace("list");
      if (script.instead === "hangs at list") await sleep(3_600_000);
      if (script.instead === "fails at list") throw new Error("the list is lost");
      return page(script, all(), Number(params?.cursor ?? 0)) as never;
    });
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const tool = all().find(({ name }) => name === params.name);
      trace(`call ${params.name}`);
      context.mcpReq.signal.addEventListener("abort", () => trace(`cancelled ${params.name}`));
      const add = () => {
        added.push({ name: `added_${added.length}` });
        return server.sendToolListChanged();
      };
      const progress = (message: string) =>
        context.mcpReq.notify({
          method: "notifications/progress",
          params: { progressToken: params._meta?.progressToken ?? 0, progress: 1, message },
        });
      return perform(tool, params.arguments ?? {}, { add, progress });
    });
  }
  if (script.changingMs !== undefined) {
    setInterval(() => {
      added.push({ name: `added_${added.length}` });
      server.sendToolListChanged().catch(() => {});
    }, script.changingMs).unref();
  }
  return server;
}

function numbered(many: number): ScriptedTool[] {
  return Array.from({ length: many }, (_, index) => ({ name: `tool_${String(index).padStart(4, "0")}` }));
}

function page({ pageSize = 10_000, circle }: McpScript, tools: readonly ScriptedTool[], from: number) {
  const shown = tools.slice(from, from + pageSize);
  const isLast = from + pageSize >= tools.length;
  return {
    tools: shown.map(
      ({ name, description = `Does ${name}.`, longDescription, inputSchema, annotations }) => ({
        name,
        description: longDescription ? "long ".repeat(longDescription / 5) : description,
        inputSchema: inputSchema ?? anything,
        ...(annotations && { annotations }),
      }),
    ),
    ...(circle && { nextCursor: "0" }),
    ...(!isLast && { nextCursor: String(from + pageSize) }),
  };
}

interface Doing {
  add(): Promise<void>;
  progress(message: string): Promise<void>;
}

async function perform(
  tool: ScriptedTool | undefined,
  args: Record<string, unknown>,
  { add, progress }: Doing,
): Promise<CallToolResult> {
  const says = (text: string, isError = false): CallToolResult => ({
    content: [{ type: "text", text }],
    isError,
  });
  switch (tool?.does ?? "echo") {
    case "crash":
      process.stderr.write(`it breaks: ${process.env.SECRET ?? ""}\n`);
      return process.exit(7);
    case "hang":
      await sleep(3_600_000);
      return says("never");
    case "fail":
      return says("it did not work", true);
    case "throw":
      throw new Error(`no such thing as ${process.env.SECRET ?? "that"}`);
    case "huge":
      return says("x".repeat(Number(args.bytes)));
    case "env":
      return says(JSON.stringify(process.env));
    case "add":
      await add();
      return says("added");
    case "progress":
      await progress("halfway");
      await sleep(Number(args.ms ?? 0));
      await progress("nearly");
      await sleep(Number(args.ms ?? 0));
      return says("done");
    case "talk":
      for (let time = 0; time < Number(args.times); time++) await progress("x".repeat(Number(args.chars)));
      return says("talked");
    case "answer":
      return tool?.answer as CallToolResult;
    default:
      return says(`${tool?.name}: ${JSON.stringify(args)}`);
  }
}
