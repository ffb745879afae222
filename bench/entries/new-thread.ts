import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Bench, type Entry, inTurns, type Row, row, typicalMilliseconds } from "../harness.js";
import { built } from "../support/built.js";
import { followProject } from "../support/wire.js";

const CALLS = 10;

/** A new thread, on disk and listed, against the least it takes to make a directory with one file that survives a crash. */
export const newThread: Entry = {
  name: "new-thread",
  title: "a new thread, flushed to disk",
  async run(bench: Bench): Promise<Row[]> {
    const project = await (await built()).atsf.openProject(bench.directory());
    bench.onEnd(() => project.close());
    const agent = { id: "demo", name: "Demo" };
    const { caller, workspace_id } = await followProject(bench, {
      dataDir: bench.directory(),
      root: bench.directory(),
    });
    const makeRaw = rawThreads(bench);
    const series = await inTurns(bench.times(40, 12), {
      raw: typicalMilliseconds(CALLS, makeRaw),
      local: typicalMilliseconds(CALLS, () =>
        project.create({ threadId: randomUUID(), title: "New", agent }),
      ),
      wire: typicalMilliseconds(CALLS, () => caller.call("thread/start", { workspace_id, title: "New" })),
    });
    const against = { name: "mkdir, write, fsync, rename, fsync", samples: series.raw };
    const target = { of: "value", atMost: 3 } as const;
    return [
      row({ name: "in process", unit: "ms", samples: series.local, against, target }),
      row({ name: "over the wire", unit: "ms", samples: series.wire, against, target }),
    ];
  },
};

function rawThreads(bench: Bench): () => void {
  const root = bench.directory();
  const text = `${JSON.stringify({ title: "New", text: "x".repeat(500) }, null, 2)}\n`;
  let count = 0;
  return () => {
    const name = String(++count);
    const draft = join(root, `.new-${name}`);
    mkdirSync(draft);
    writeFlushed(join(draft, "thread.json"), text);
    renameSync(draft, join(root, name));
    flushDirectory(root);
  };
}

function writeFlushed(path: string, text: string): void {
  const file = openSync(path, "wx");
  writeSync(file, text);
  fsyncSync(file);
  closeSync(file);
}

function flushDirectory(path: string): void {
  const directory = openSync(path, "r");
  fsyncSync(directory);
  closeSync(directory);
}
