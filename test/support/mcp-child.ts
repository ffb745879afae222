/** A scripted MCP server over standard input and output: `mcp-child.ts SCRIPT [HABIT…]`, with the script as JSON. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { type McpScript, scriptedServer } from "./mcp-script.js";

const [given = "{}", ...habits] = process.argv.slice(2);
const script: McpScript = JSON.parse(given);

const customs: Record<string, (value: string) => void> = {
  /** Writes its process id, and that of a process it starts, into a file. */
  family(file) {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    writeFileSync(file, `${process.pid} ${child.pid}`);
  },
  stubborn() {
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
    setInterval(() => {}, 1_000);
    process.stdin.on("end", () => {});
  },
  garbage(lines) {
    for (let line = 0; line < Number(lines); line++)
      process.stdout.write(`this is no JSON ${line}\n{"a": 1}\n`);
  },
  "endless-line"() {
    const more = () => process.stdout.write("x".repeat(65_536), more);
    more();
  },
  "flood-stdout"() {
    const notice = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "again" } })}\n`;
    const more = () => setImmediate(() => process.stdout.write(notice.repeat(500), more));
    more();
  },
  "flood-stderr"() {
    const more = () => setImmediate(() => process.stderr.write("noise ".repeat(10_000), more));
    more();
  },
  exit: (code) => {
    process.stderr.write(`it can't start: ${process.env.SECRET ?? ""}\n`);
    process.exit(Number(code));
  },
};

let serve = () => scriptedServer(script).connect(new StdioServerTransport());
for (const habit of habits) {
  const [name = "", value = ""] = habit.split("=");
  if (name === "silent") serve = async () => void process.stdin.resume();
  else if (name === "modern") {
    serve = async () => void serveStdio(() => scriptedServer(script), { legacy: "reject" });
  } else customs[name]?.(value);
}
await serve();
