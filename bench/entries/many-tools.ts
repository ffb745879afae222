import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Bench, type Entry, inTurns, type Row, row } from "../harness.js";
import { median } from "../statistics.js";
import { Caller } from "../support/caller.js";
import { type AskingOptions, QUESTION, startAsking, startFakeModel, TurnTaker } from "../support/turns.js";
import { textOf } from "../support/words.js";

const TOOLS = 500;
const TURNS = 5;
const WARM_UPS = 2;

const FEW = ["files_read", "files_list", "files_search"];
const FEW_OF_MANY = ["mcp_many_tool_1", "mcp_many_tool_250", "mcp_many_tool_499"];

/** What tools that an agent may not use cost its turns: three of five hundred against three of a few. */
export const manyTools: Entry = {
  name: "many-tools",
  title: `first token with ${TOOLS} tools configured and three of them allowed`,
  async run(bench: Bench): Promise<Row[]> {
    const model = await startFakeModel(bench);
    const few = await openAgent(bench, model, { agent: { toolAllowlist: FEW } });
    const command = { command: process.execPath, args: [script, String(TOOLS)] };
    const many = await openAgent(bench, model, {
      agent: { toolAllowlist: FEW_OF_MANY },
      config: { mcpServers: { many: command } },
      tools: TOOLS,
    });
    for (let taken = 0; taken < bench.times(200, 60); taken++) {
      await few.turn();
      await many.turn();
    }
    const series = await inTurns(
      bench.times(40, 8),
      { few: () => few.typical(), many: () => many.typical() },
      WARM_UPS,
    );
    return [
      row({
        name: "three of 500 allowed",
        unit: "ms",
        samples: series.many,
        against: { name: "three of a few", samples: series.few },
        target: { of: "ratio", atMost: 1.3 },
      }),
    ];
  },
};

const script = fileURLToPath(new URL("../support/many-tools.mjs", import.meta.url));

async function openAgent(bench: Bench, model: string, given: AskingOptions & { tools?: number }) {
  const gateway = await startAsking(bench, bench.directory(), model, given);
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const { workspace } = await caller.ask("workspace/create", { root_path: bench.directory() });
  const workspace_id = workspace.id;
  while ((await caller.ask("tool/list", { workspace_id })).data.length < (given.tools ?? 0)) await delay(20);
  const { thread } = await caller.ask("thread/start", { workspace_id });
  const taker = await TurnTaker.open(bench, gateway);
  await taker.follow(workspace_id, thread.id);
  const turn = async () => (await taker.take(workspace_id, thread.id, textOf(QUESTION, next++))).firstWords;
  const typical = async () => {
    const times: number[] = [];
    for (let taken = 0; taken < TURNS; taken++) times.push(await turn());
    return median(times);
  };
  return { turn, typical };
}

let next = 0;
