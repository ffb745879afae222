import { setTimeout as wait } from "node:timers/promises";
import { type Bench, type Entry, inTurns, type Row, row } from "../harness.js";
import { LongLived } from "../support/long-lived.js";
import { openProgramGateway, type ProgramGateway } from "../support/program-gateway.js";
import { type Installed, installed, type ProgramName } from "../support/programs.js";
import { QUESTION, startFakeModel, type Turn } from "../support/turns.js";
import { textOf } from "../support/words.js";

const PROGRAMS: readonly ProgramName[] = ["claude", "codex", "pi"];
/** Turns of a conversation that count, after its first: most threads of people are no longer. */
const TURNS = 10;
/** Until its first words: less than models in use take, which answer nobody at once. */
const THINKS_MS = 300;
/** What a turn leaves for later is not to fall into the next one, which is another side's. */
const REST_MS = 50;

/**
 * What the gateway adds to a turn of a program that it has kept from the turn before, against the program's own long-lived
 * mode. The program, what it is told to leave out, its model and the messages are the same; each side has its own process.
 */
export const programs: Entry = {
  name: "programs",
  title: "second and later turns of a thread, against the program's own long-lived mode",
  async run(bench: Bench): Promise<Row[]> {
    const rows: Row[] = [];
    for (const name of PROGRAMS) {
      const program = installed(name);
      if (program) rows.push(...(await bench.part((part) => rowsOf(part, program))));
      else bench.leftOut.push(`${name} is not installed: run \`npm run test:agents -- ${name}\``);
    }
    return rows;
  },
};

type Series = Record<"direct" | "ours" | "withOne", Turn[]>;

async function rowsOf(bench: Bench, program: Installed): Promise<Row[]> {
  const atOnce = await bench.part((part) =>
    take(part, program, { thinksMs: 0, warmUps: bench.times(40, 20), conversations: bench.times(6, 2) }),
  );
  const thinking = await bench.part((part) =>
    take(part, program, { thinksMs: THINKS_MS, warmUps: 5, conversations: 1 }),
  );
  const plan = (taken: Series, side: keyof Series, what: keyof Turn) => ({
    unit: "ms" as const,
    samples: taken[side].map((turn) => turn[what]),
    against: { name: `${program.version} alone`, samples: taken.direct.map((turn) => turn[what]) },
  });
  const { name } = program;
  const target = { of: "ratio", atMost: 1.2 } as const;
  return [
    row({ name: `${name}, whole turn`, ...plan(atOnce, "ours", "whole"), target }),
    row({ name: `${name}, whole turn, one tool of Heddle`, ...plan(atOnce, "withOne", "whole") }),
    row({ name: `${name}, first words`, ...plan(atOnce, "ours", "firstWords") }),
    row({ name: `${name}, whole turn, a model that thinks`, ...plan(thinking, "ours", "whole"), target }),
  ];
}

interface Taking {
  readonly thinksMs: number;
  readonly warmUps: number;
  readonly conversations: number;
}

async function take(
  bench: Bench,
  program: Installed,
  { thinksMs, warmUps, conversations }: Taking,
): Promise<Series> {
  const model = await startFakeModel(bench, thinksMs);
  const gateway = await openProgramGateway(bench, program, model);
  const talk = (turns: number) =>
    bench.part((part) => conversation(part, { program, model, gateway, turns }));
  // Code that has run a few times only is slow: a gateway that has been up for a while is what people have.
  await talk(warmUps);
  const taken: Series = { direct: [], ours: [], withOne: [] };
  for (let held = 0; held < conversations; held++) {
    const series = await talk(TURNS);
    for (const side of ["direct", "ours", "withOne"] as const) taken[side].push(...series[side]);
  }
  return taken;
}

interface Sides {
  readonly program: Installed;
  readonly model: string;
  readonly gateway: ProgramGateway;
  readonly turns: number;
}

/** A conversation of each side, begun anew: so many turns in turns, after a first one that starts the process. */
async function conversation(bench: Bench, { program, model, gateway, turns }: Sides): Promise<Series> {
  const alone = await LongLived.open(bench, program, model);
  const thread = await gateway.thread(bench, "all");
  const few = await gateway.thread(bench, "one");
  const series = await inTurns(
    turns,
    { direct: asking(alone), ours: asking(thread), withOne: asking(few) },
    1,
  );
  for (const one of [thread, few]) await one.checkKept(turns);
  return series;
}

/** Asks as many questions as the other sides, and the same ones, so that all histories grow alike. */
function asking(side: { take(content: string): Promise<Turn> }) {
  let asked = 0;
  return async () => {
    const turn = await side.take(textOf(QUESTION, asked++));
    await wait(REST_MS);
    return turn;
  };
}
