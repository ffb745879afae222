import { join } from "node:path";
import fc from "fast-check";
import { describe, test } from "vitest";
import { temporaryDirectory } from "../support/stores.js";
import { anything, expectFormat } from "./read.js";
import { Opencode, write } from "./sessions.js";

const time = fc.oneof(
  anything,
  fc.record({ created: anything, completed: anything, start: anything, end: anything }),
);
const state = fc.record(
  {
    status: fc.oneof(fc.constantFrom("completed", "error", "running"), anything),
    input: anything,
    output: anything,
    error: anything,
    title: anything,
    time,
    metadata: anything,
    attachments: fc.array(anything, { maxLength: 2 }),
    content: fc.array(fc.oneof(anything, fc.record({ text: anything })), { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const part = fc.oneof(
  anything,
  fc.record(
    {
      type: fc.oneof(fc.constantFrom("text", "reasoning", "tool", "file", "subtask"), anything),
      id: anything,
      name: anything,
      callID: anything,
      tool: anything,
      text: anything,
      prompt: anything,
      mime: fc.oneof(fc.constant("image/png"), anything),
      url: fc.oneof(fc.constant("data:image/png;base64,AAAA"), anything),
      filename: anything,
      state: fc.oneof(state, anything),
    },
    { requiredKeys: [] },
  ),
);
const parts = fc.oneof(anything, fc.array(part, { maxLength: 4 }));
const info = fc.record(
  {
    id: fc.constantFrom("a", "b", 7),
    role: fc.constantFrom("user", "assistant", 7),
    time,
    error: anything,
    finish: anything,
    model: anything,
    modelID: anything,
    tokens: fc.oneof(
      anything,
      fc.record({ input: anything, output: anything, cache: fc.record({ read: anything }) }),
    ),
  },
  { requiredKeys: [] },
);
const message = fc.oneof(anything, fc.record({ info: fc.oneof(info, anything), parts }));
const row = fc.oneof(
  anything,
  fc.record(
    { content: parts, files: parts, text: anything, summary: anything, time, error: anything },
    { requiredKeys: [] },
  ),
);

describe("whatever values stand in sessions of opencode, every message that comes of them is one of the format", () => {
  test("[IMP90] [IMP115] in what was exported", async () => {
    const path = join(temporaryDirectory(), "out.json");
    const session = fc.record({
      id: fc.constant("ses_x"),
      title: anything,
      time,
      revert: anything,
      version: anything,
    });
    const one = fc.asyncProperty(session, fc.array(message, { maxLength: 8 }), async (info, messages) => {
      await expectFormat("opencode", write(path, JSON.stringify({ info, messages })));
    });
    await fc.assert(one, { numRuns: 200 });
  });

  test("[IMP90] [IMP115] in files", async () => {
    const storage = join(temporaryDirectory(), "storage");
    const path = join(storage, "session/p/ses_x.json");
    const file = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
    const one = fc.asyncProperty(fc.oneof(info, anything), part, part, async (own, first, second) => {
      write(path, JSON.stringify({ title: "T" }));
      write(join(storage, "message/ses_x/m.json"), file(own));
      write(join(storage, "part/m/1.json"), file(first));
      write(join(storage, "part/m/2.json"), file(second));
      await expectFormat("opencode", path);
    });
    await fc.assert(one, { numRuns: 200 });
  });

  test("[IMP90] [IMP115] in rows of the next version", async () => {
    const session = new Opencode(temporaryDirectory(), "/a").begin();
    const type = fc.constantFrom("user", "assistant", "compaction");
    const one = fc.asyncProperty(fc.array(fc.tuple(type, row), { maxLength: 4 }), async (rows) => {
      session.nextRows(rows);
      await expectFormat("opencode", session.path);
    });
    await fc.assert(one, { numRuns: 60 });
  });
});
