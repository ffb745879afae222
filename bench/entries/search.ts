import {
  type Bench,
  type Entry,
  inTurns,
  milliseconds,
  type Row,
  row,
  typicalMilliseconds,
} from "../harness.js";
import type { Caller } from "../support/caller.js";
import { writeProject, writeThread } from "../support/thread-files.js";
import { followProject, untilSearchable } from "../support/wire.js";
import { textOf } from "../support/words.js";

const THREADS = 200;
const PER_THREAD = 100;
const MESSAGES = THREADS * PER_THREAD;
const CHARS = 300;
const LIMIT = 50;
const CALLS = 5;

/** Words that no text has of its own. */
const RARE = "quixotic";
const FREQUENT = "question";
const FREQUENT_EVERY = 2;

/** A word that one message has and a word that every second one has, newest first, with the text around it. */
export const search: Entry = {
  name: "search",
  title: `search ${MESSAGES} messages of ${THREADS} threads`,
  async run(bench: Bench): Promise<Row[]> {
    const root = bench.directory();
    fill(root);
    const { caller, workspace_id } = await followProject(bench, { dataDir: bench.directory(), root });
    const first = await milliseconds(() => untilSearchable(caller, workspace_id));
    await assertFinds(caller, workspace_id);
    const find = (query: string) =>
      typicalMilliseconds(CALLS, () => caller.call("thread/search", { workspace_id, query, limit: LIMIT }));
    const series = await inTurns(bench.times(40, 10), {
      rare: find(RARE),
      frequent: find(FREQUENT),
      prefix: find(FREQUENT.slice(0, 4)),
      both: find(`${FREQUENT} ${RARE}`),
    });
    return [
      row({ name: "a rare word", unit: "ms", samples: series.rare }),
      row({ name: `a word of ${MESSAGES / FREQUENT_EVERY} messages`, unit: "ms", samples: series.frequent }),
      row({ name: "its beginning", unit: "ms", samples: series.prefix }),
      row({ name: "both words", unit: "ms", samples: series.both }),
      row({ name: "until every message can be found, once", unit: "ms", samples: [first] }),
    ];
  },
};

function fill(root: string): void {
  writeProject(root);
  for (let number = 0; number < THREADS; number++) {
    const text = (index: number) => {
      const count = number * PER_THREAD + index;
      const frequent = count % FREQUENT_EVERY === 0 ? FREQUENT : "";
      const rare = count === MESSAGES / 2 ? RARE : "";
      return `${textOf(CHARS, count)} ${frequent} ${rare}`;
    };
    writeThread(root, { number, messages: PER_THREAD, text });
  }
}

async function assertFinds(caller: Caller, workspace_id: string): Promise<void> {
  const rare = await caller.ask("thread/search", { workspace_id, query: RARE });
  const frequent = await caller.ask("thread/search", { workspace_id, query: FREQUENT, limit: LIMIT });
  if (rare.data.length !== 1 || frequent.data.length !== LIMIT)
    throw new Error("the search does not find all");
}
