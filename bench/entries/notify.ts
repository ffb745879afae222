import { type Bench, type Entry, inTurns, type Row, row, type Sampler } from "../harness.js";
import { Caller } from "../support/caller.js";
import { startBareServer, startGateway } from "../support/child.js";
import { documentText, Seed } from "../support/seed.js";

const LISTENERS = 100;
/** What a save tells: the document changed, the tree changed. */
const NOTES_PER_SAVE = 2;
const TEXT = documentText(1_000);

/** One save heard by a hundred clients, against a bare server that sends as many bytes to as many. */
export const notify: Entry = {
  name: "notify",
  title: `one save heard by ${LISTENERS} clients, until the last one`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const workspace_id = await Seed.into(bench, dataDir, (seed) => seed.workspace("Notify"));
    const { url, token } = await startGateway(bench, dataDir);
    const writer = await Caller.open(bench, url, token);
    const listeners = await openAll(() => Caller.open(bench, url, token));
    for (const listener of listeners) await listener.call("subscribe", { workspace_id });
    let count = 0;
    const save = () => writer.call("thread/agents_doc/save", { workspace_id, content: `${TEXT}${++count}` });
    const notes = await notesOf(writer, save);

    const bareUrl = await startBareServer(bench);
    const bareWriter = await Caller.open(bench, bareUrl);
    const bareListeners = await openAll(() => Caller.open(bench, bareUrl));
    const message = JSON.stringify(notes);
    const series = await inTurns(bench.times(150, 50), {
      bare: untilHeard("sent", () => bareWriter.exchange(message), bareListeners),
      sent: untilHeard("sent", save, listeners),
      answered: untilHeard("answered", save, listeners),
    });
    const against = { name: "bare ws broadcast", samples: series.bare };
    return [
      row({ name: "since the request", unit: "ms", samples: series.sent, against }),
      row({ name: "since the answer", unit: "ms", samples: series.answered }),
    ];
  },
};

function openAll(open: () => Promise<Caller>): Promise<Caller[]> {
  return Promise.all(Array.from({ length: LISTENERS }, open));
}

/** The texts that a save makes its own sender hear. */
function notesOf(writer: Caller, save: () => Promise<string>): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const notes: string[] = [];
    writer.onNotification = (text) => {
      if (notes.push(text) === NOTES_PER_SAVE) resolve(notes);
    };
    save().catch(reject);
  });
}

/** Milliseconds until every listener has heard every notification; below 0 when all had before the writer's answer came. */
function untilHeard(
  from: "sent" | "answered",
  write: () => Promise<string>,
  listeners: readonly Caller[],
): Sampler {
  return async () => {
    let missing = listeners.length * NOTES_PER_SAVE;
    const heard = new Promise<number>((resolve) => {
      for (const listener of listeners)
        listener.onNotification = () => {
          if (--missing === 0) resolve(performance.now());
        };
    });
    const sent = performance.now();
    await write();
    const since = from === "sent" ? sent : performance.now();
    return (await heard) - since;
  };
}
