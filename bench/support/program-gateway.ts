import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Bench } from "../harness.js";
import { Caller } from "./caller.js";
import { startGateway } from "./child.js";
import { INSTRUCTIONS } from "./long-lived.js";
import { cleanEnvironment, furnish, type Installed } from "./programs.js";
import { type Turn, TurnTaker } from "./turns.js";

/**
 * Which of Heddle's tools the program is offered beside its own: they make all that it asks its model larger. `one` is the
 * least, `system_time`.
 */
export type HeddleTools = "all" | "one";

const agentsOf: Readonly<Record<HeddleTools, object>> = {
  all: {},
  one: { toolDenylist: ["*"], ownTools: true },
};

export interface ProgramThread {
  take(content: string): Promise<Turn>;
  /** Fails unless so many of its turns were had with the process of the turn before. */
  checkKept(turns: number): Promise<void>;
}

/** A gateway whose agents are a program. */
export interface ProgramGateway {
  /** A new thread; its process is ended with the part of the entry that had it. */
  thread(bench: Bench, tools: HeddleTools): Promise<ProgramThread>;
}

/** `model` is where the fake model is asked. */
export async function openProgramGateway(
  bench: Bench,
  program: Installed,
  model: string,
): Promise<ProgramGateway> {
  const gateway = await startWith(bench, program, model);
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const { workspace } = await caller.ask("workspace/create", { root_path: bench.directory() });
  const workspace_id = workspace.id;
  const taker = await TurnTaker.open(bench, gateway);
  return {
    async thread(part, tools) {
      const { thread } = await caller.ask("thread/start", { workspace_id, agent_id: tools });
      const thread_id = thread.id;
      part.onEnd(() => caller.call("thread/delete", { workspace_id, thread_id }));
      await taker.follow(workspace_id, thread_id);
      return {
        take: (content) => taker.take(workspace_id, thread_id, content),
        async checkKept(turns) {
          const runs = await caller.ask("run/list", { workspace_id, thread_id, limit: 200 });
          const told: (string | undefined)[] = [];
          for (const { id } of runs.data) {
            const { manifest } = await caller.ask("run/manifest", { workspace_id, run_id: id });
            told.push(manifest.delivery?.session);
          }
          const kept = told.filter((session) => session === "kept");
          if (kept.length !== turns) throw new Error(`${program.name} was not kept: ${told.join(", ")}`);
        },
      };
    },
  };
}

function startWith(bench: Bench, { name, command }: Installed, asked: string) {
  const [dataDir, home] = [bench.directory(), bench.directory()];
  const { provider, model, env } = furnish(name, home, asked);
  const chat = { provider, model, config: { command, env } };
  const agents = Object.entries(agentsOf).map(([agentId, limits]) => {
    return { agentId, displayName: name, systemPrompt: INSTRUCTIONS, chat, ...limits };
  });
  writeFileSync(join(dataDir, "heddle.config.json"), JSON.stringify({ agents }));
  return startGateway(bench, dataDir, cleanEnvironment(home));
}
