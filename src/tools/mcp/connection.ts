import type { CallToolResult, Client, Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { ChildTransport } from "./child.js";
import type { McpServerEntry } from "./entry.js";
import { httpTransport } from "./http.js";
import { McpProblem } from "./problem.js";
import { loadSdk, type McpSdk } from "./sdk.js";
import type { Timing } from "./timing.js";

export interface ConnectionGiven {
  readonly entry: McpServerEntry;
  /** What a program sees of the environment, besides what its entry says. */
  readonly env: NodeJS.ProcessEnv;
  /** Where a program starts, unless its entry says otherwise. */
  readonly directory: string;
  readonly version: string;
  readonly timing: Timing;
  readonly signal: AbortSignal;
  /** The server's tools are not what they were. */
  changed(): void;
}

/** A tool as its server knows it. */
export interface TheirTool {
  readonly name: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  progress(text: string): void;
}

/** One server, as long as it is there. */
export interface Connection {
  /** Everything it lists, unchecked; `cut` when it lists without end. */
  listTools(): Promise<{ readonly tools: readonly unknown[]; readonly cut: boolean }>;
  call(tool: TheirTool, args: Record<string, unknown>, options: CallOptions): Promise<CallToolResult>;
  /** Why it is over, as soon as it is. */
  problem(): string | undefined;
  /** Settles with that. */
  readonly over: Promise<string>;
  close(): Promise<void>;
}

const MOST_LISTED = 5_000;
const LEAVE_MS = 500;

/** Older servers know one handshake, newer ones may know only the other. */
export async function openConnection(given: ConnectionGiven): Promise<Connection> {
  const sdk = await loadSdk();
  try {
    return await open(sdk, given, "legacy");
  } catch (error) {
    if (!isRefusal(error) || given.signal.aborted) throw error;
    return await open(sdk, given, "auto").catch(() => {
      throw error;
    });
  }
}

/** It answered, and said no: by a JSON-RPC error, or by HTTP as one does who does not know the method. */
function isRefusal(error: unknown): boolean {
  const { code, status } = error as { code?: unknown; status?: unknown };
  return typeof code === "number" || status === 400 || status === 405;
}

async function open(sdk: McpSdk, given: ConnectionGiven, mode: "legacy" | "auto"): Promise<Connection> {
  const { timing, version, signal } = given;
  const line = lineTo(sdk, given, () => void client.close().catch(() => {}));
  const client = new sdk.Client(
    { name: "heddle", version },
    {
      versionNegotiation: { mode },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => given.changed() } },
    },
  );
  const over = overOf(client, line);
  const close = () => line.transport.close().catch(() => {});
  signal.addEventListener("abort", close);
  try {
    const connecting = client.connect(line.transport, { timeout: timing.connectMs });
    await inTime(connecting, timing.connectMs, close);
    signal.throwIfAborted();
  } catch (error) {
    await close();
    const problem = line.problem();
    throw problem === undefined || isRefusal(error) ? error : new McpProblem(problem);
  } finally {
    signal.removeEventListener("abort", close);
  }
  return {
    listTools: () => listTools(client, timing),
    call: (tool, args, options) => callTool(client, { tool, args, options, timing }),
    problem: over.problem,
    over: over.settled,
    close: async () => {
      if (over.problem() === undefined && line.leave) {
        await inTime(line.leave(), LEAVE_MS, () => {}).catch(() => {});
      }
      await client.close().catch(() => {});
      await close();
    },
  };
}

interface Line {
  readonly transport: Transport;
  problem(): string | undefined;
  /** Says good-bye, where a server would else keep something for us. */
  leave?(): Promise<void>;
}

function lineTo(sdk: McpSdk, { entry, env, directory }: ConnectionGiven, hangUp: () => void): Line {
  const { command, args = [], url, headers = {}, cwd } = entry;
  if (command !== undefined) {
    const given = { command, args, env: { ...env, ...entry.env }, cwd: cwd ?? directory };
    const child = new ChildTransport(sdk, given);
    return { transport: child as Transport, problem: () => child.problem() };
  }
  if (url === undefined) throw new McpProblem("can't be used: it needs a command or a url");
  const { username, password } = new URL(url);
  if (username !== "" || password !== "") {
    throw new McpProblem("can't be used: its url holds a name or a password. Give them as a header");
  }
  let problem: string | undefined;
  const lost = (why: string) => {
    problem ??= why;
    hangUp();
  };
  const transport = httpTransport(sdk, { url, headers, lost });
  return {
    transport: transport as Transport,
    problem: () => problem,
    leave: () => transport.terminateSession(),
  };
}

function overOf(client: Client, line: Line) {
  let problem: string | undefined;
  const settled = new Promise<string>((resolve) => {
    client.onclose = () => {
      problem ??= line.problem() ?? "closed the connection";
      resolve(problem);
    };
  });
  // Whatever matters comes back as a failed request, or as the end.
  client.onerror = () => {};
  return { settled, problem: () => problem };
}

/** Every part of a handshake may hang, also those that the library gives no time limit. */
function inTime<T>(work: Promise<T>, ms: number, giveUp: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new McpProblem(`did not get ready within ${ms / 1_000} s`));
      giveUp();
    }, ms);
    work.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

/** Tools are looked at one by one: a single bad one must not cost the others. */
const pageSchema = z.object({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

async function listTools(client: Client, { listMs }: Timing) {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], cut: false };
  const until = performance.now() + listMs;
  const tools: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    const params = cursor === undefined ? {} : { cursor };
    const timeout = Math.max(1, until - performance.now());
    const page = await client.request({ method: "tools/list", params }, pageSchema, { timeout });
    tools.push(...page.tools);
    cursor = page.nextCursor;
    if (cursor === undefined) return { tools, cut: false };
    if (cursors.has(cursor)) throw new McpProblem("lists its tools in a circle");
    cursors.add(cursor);
  } while (tools.length < MOST_LISTED && cursors.size < MOST_LISTED);
  return { tools, cut: true };
}

interface Calling {
  readonly tool: TheirTool;
  readonly args: Record<string, unknown>;
  readonly options: CallOptions;
  readonly timing: Timing;
}

async function callTool(client: Client, { tool, args, options, timing }: Calling): Promise<CallToolResult> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort("it takes too long"), timing.longestCallMs).unref();
  try {
    return await client.callTool(
      { name: tool.name, arguments: args },
      {
        // Without its output schema: what a server promises of its answers is not ours to enforce.
        toolDefinition: { name: tool.name, inputSchema: tool.inputSchema as { type: "object" } },
        signal: AbortSignal.any([options.signal, late.signal]),
        timeout: timing.callMs,
        resetTimeoutOnProgress: true,
        onprogress: ({ message, progress, total }) =>
          options.progress(`${message ?? (total === undefined ? progress : `${progress} of ${total}`)}\n`),
      },
    );
  } finally {
    clearTimeout(timer);
  }
}
