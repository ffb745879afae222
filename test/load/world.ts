import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { HeddleProcess } from "../support/process.js";
import { type Door, LoadClient } from "./client.js";

/** Characters of every answer, and in how many pieces it comes. */
export const ANSWER_CHARS = 512;
const PIECES = 8;
const AGENT = "fake";
const THREADS_PER_WORKSPACE = 10;
const START_MS = 60_000;

export interface Place {
  /** The value of `--store`. */
  readonly store: string;
  /** Empty, and removed by whoever made it. */
  readonly dataDir: string;
}

/** A workspace whose threads are busy. */
export interface Room {
  readonly workspace_id: string;
  readonly threads: readonly string[];
  /** The number of the last notification before anybody listened. */
  readonly seq: number;
}

/** A gateway in a process of its own, the model it asks in another, and the workspaces that are used. */
export interface World {
  readonly door: Door;
  readonly gateway: HeddleProcess;
  readonly place: Place;
  readonly rooms: readonly Room[];
  end(): Promise<void>;
}

export async function openWorld(place: Place, threads: number, env: NodeJS.ProcessEnv = {}): Promise<World> {
  const model = spawn(
    process.execPath,
    ["bench/support/fake-model.mjs", String(ANSWER_CHARS), String(PIECES)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const gateway = await startGateway(place, await firstLine(model), env);
  const end = async () => {
    await gateway.end();
    model.kill("SIGKILL");
  };
  try {
    await gateway.until(() => gateway.stdout.includes("\n") || undefined, START_MS);
    const door = await gateway.ready();
    return { door, gateway, place, rooms: await makeRooms(door, place, threads), end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error("the model has no output");
  const [line] = await once(createInterface(stdout), "line");
  return String(line);
}

async function startGateway(
  { store, dataDir }: Place,
  modelPort: string,
  env: NodeJS.ProcessEnv,
): Promise<HeddleProcess> {
  const config = { baseURL: `http://127.0.0.1:${modelPort}/v1`, apiKey: "not-a-key" };
  const chat = { provider: "openai-compatible", model: "m", contextWindow: 1_000_000, config };
  const agents = [{ agentId: AGENT, systemPrompt: "You are brief.", chat }];
  writeFileSync(join(dataDir, "heddle.config.json"), JSON.stringify({ agents }));
  const options = ["--json", "--no-open", "--port", "0", "--data", dataDir, "--store", store];
  return new HeddleProcess(["serve", ...options], { HEDDLE_DETECT: "off", ...env });
}

async function makeRooms(door: Door, { dataDir }: Place, threads: number): Promise<Room[]> {
  const maker = await LoadClient.open(door);
  const rooms: Room[] = [];
  for (let made = 0; made < threads; made += THREADS_PER_WORKSPACE) {
    const root_path = join(dataDir, "projects", String(rooms.length));
    mkdirSync(root_path, { recursive: true });
    const count = Math.min(THREADS_PER_WORKSPACE, threads - made);
    rooms.push(await makeRoom(maker, root_path, count));
  }
  maker.close();
  return rooms;
}

async function makeRoom(maker: LoadClient, root_path: string, count: number): Promise<Room> {
  const { workspace } = await maker.result<{ workspace: { id: string } }>("workspace/create", { root_path });
  const workspace_id = workspace.id;
  const threads: string[] = [];
  for (let number = 0; number < count; number++) {
    const started = { workspace_id, title: `Thread ${number}`, agent_id: AGENT };
    const { thread } = await maker.result<{ thread: { id: string } }>("thread/start", started);
    threads.push(thread.id);
  }
  const { seq } = await maker.result<{ seq: number }>("subscribe", { workspace_id });
  return { workspace_id, threads, seq };
}
