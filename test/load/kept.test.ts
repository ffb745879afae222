import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { openProject } from "../../src/atsf/index.js";

const MESSAGES = 300;
const CHARS = 100_000;

test("[LOD7] a thread that stays open holds nothing of the messages that were appended to it", async () => {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  const root = mkdtempSync(join(tmpdir(), "heddle-kept-"));
  const project = await openProject(root);
  try {
    const thread = await project.create({ threadId: "t", title: "T", agent: { id: "a", name: "A" } });
    const append = (number: number) =>
      thread.append({
        id: `message-${number}`,
        role: "user",
        timestamp: new Date(number).toISOString(),
        content: [{ type: "text", text: String(number).padEnd(CHARS, "x") }],
      });
    await append(0);
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let number = 1; number <= MESSAGES; number++) await append(number);
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan((MESSAGES * CHARS) / 4);
  } finally {
    await project.close();
    rmSync(root, { recursive: true, force: true });
  }
});
