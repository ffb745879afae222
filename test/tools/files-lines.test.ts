import { closeSync, ftruncateSync, openSync, readdirSync, writeSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { filesPlugin } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { contextWith, directoryWith, registryOf } from "./support.js";

const registry = registryOf(...filesPlugin.tools);

/** Reads a file with this content. */
async function reading(content: string | Buffer, more: { from_line?: number; lines?: number } = {}) {
  const directory = directoryWith({ f: content });
  return registry.call("files_read", { path: "f", ...more }, contextWith({ directory }));
}

const numbered = (lines: readonly string[], from = 1) =>
  lines.map((line, i) => `${from + i}\t${line}`).join("\n");
const done = (output: string) => ({ status: "completed", output, duration_ms: 0 });
const failed = (output: string) => ({ status: "failed", output, duration_ms: 0 });

test("[TLS36] lines are numbered from 1, whether or not the last one ends", async () => {
  expect(await reading("one\ntwo\n")).toEqual(done("1\tone\n2\ttwo"));
  expect(await reading("one\ntwo")).toEqual(done("1\tone\n2\ttwo"));
  expect(await reading("\n\n")).toEqual(done("1\t\n2\t"));
  expect(await reading("one\r\n\ttwo \r\n")).toEqual(done("1\tone\r\n2\t\ttwo \r"));
  expect(await reading("a\u2028b\vc")).toEqual(done("1\ta\u2028b\vc"));
  expect(await reading("")).toEqual(done("(the file is empty)"));
});

test("[TLS36] it reads from the line that is asked for, and as many as are", async () => {
  const text = "one\ntwo\nthree\nfour\n";
  expect(await reading(text, { from_line: 3 })).toEqual(done("3\tthree\n4\tfour"));
  expect(await reading(text, { from_line: 2, lines: 2 })).toEqual(
    done("2\ttwo\n3\tthree\n[Lines 2 to 3 are shown. There is more: read on with from_line 4.]"),
  );
  expect(await reading(text, { from_line: 3, lines: 2 })).toEqual(done("3\tthree\n4\tfour"));
  expect(await reading(text, { from_line: 4, lines: 2000 })).toEqual(done("4\tfour"));
});

test("[TLS36] a line that is not there is a failure that says how many there are", async () => {
  expect(await reading("one\ntwo\n", { from_line: 3 })).toEqual(
    failed('"f" has 2 lines, so there is no line 3.'),
  );
  expect(await reading("one\ntwo", { from_line: 9 })).toEqual(
    failed('"f" has 2 lines, so there is no line 9.'),
  );
  expect(await reading("", { from_line: 9 })).toEqual(done("(the file is empty)"));
});

test("[TLS36] numbers that make no sense are refused", async () => {
  for (const more of [
    { from_line: 0 },
    { from_line: -1 },
    { from_line: 1.5 },
    { lines: 0 },
    { lines: 2001 },
  ]) {
    const { status, output } = await reading("one", more);
    expect(status).toBe("failed");
    expect(output).toContain(`"${Object.keys(more)[0]}"`);
  }
});

test("[TLS37] 2,000 lines are given whole, of 2,001 it says how to read on", async () => {
  const lines = Array.from({ length: 2_001 }, (_, i) => `line ${i}`);
  expect(await reading(`${lines.slice(0, 2_000).join("\n")}\n`)).toEqual(
    done(numbered(lines.slice(0, 2_000))),
  );
  expect(await reading(`${lines.join("\n")}\n`)).toEqual({
    ...done(
      `${numbered(lines.slice(0, 2_000))}\n[Lines 1 to 2000 are shown. There is more: read on with from_line 2001.]`,
    ),
    truncated: true,
  });
});

test("[TLS37] a long line is cut after 2,000 characters, whichever they are", async () => {
  const mark = " [… the line is cut after 2000 characters]";
  for (const character of ["x", "é", "漢", "🧵"]) {
    const whole = character.repeat(2_000);
    expect(await reading(`${whole}\nnext`)).toEqual(done(`1\t${whole}\n2\tnext`));
    const cut = { ...done(`1\t${whole}${mark}\n2\tnext`), truncated: true };
    expect(await reading(`${whole}${character}\nnext`)).toEqual(cut);
    expect(await reading(`${character.repeat(50_000)}\nnext`)).toEqual(cut);
  }
  const bytes = Buffer.concat([Buffer.alloc(100_000, 0xff), Buffer.from("\nnext")]);
  expect((await reading(bytes)).output).toBe(`1\t${"\ufffd".repeat(2_000)}${mark}\n2\tnext`);
});

test("[TLS37] whatever the file, reading on gives every line once, within 64 KiB at a time", async () => {
  const line = fc
    .tuple(
      fc.string({ unit: fc.constantFrom("a", "é", "\r", " ", "🧵"), maxLength: 40 }),
      fc.integer({ min: 1, max: 45 }),
    )
    .map(([text, times]) => text.repeat(times));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 400 }), async (some) => {
      const lines = Array.from({ length: 5 }, () => some).flat();
      const directory = directoryWith({ f: lines.join("\n") + (lines.at(-1) === "" ? "\n" : "") });
      const read: string[] = [];
      for (let from: number | undefined = 1; from !== undefined; ) {
        const given = { path: "f", from_line: from };
        const outcome = await registry.call("files_read", given, contextWith({ directory }));
        expect(outcome.status).toBe("completed");
        expect(Buffer.byteLength(outcome.output)).toBeLessThanOrEqual(65_536);
        const note = /\n\[Lines \d+ to \d+ are shown\. There is more: read on with from_line (\d+)\.\]$/;
        const next = note.exec(outcome.output);
        expect(outcome.truncated ?? false).toBe(next !== null);
        read.push(...outcome.output.replace(note, "").split("\n"));
        from = next ? Number(next[1]) : undefined;
      }
      expect(read.join("\n") === numbered(lines)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test("[TLS38] of a file of many gigabytes only what is shown is read", async () => {
  const directory = temporaryDirectory();
  const file = openSync(join(directory, "f"), "w");
  // The rest is a hole of NULs: whoever reads further than needed finds them.
  writeSync(file, "x".repeat(99).concat("\n").repeat(700));
  ftruncateSync(file, 20 * 1024 ** 3);
  closeSync(file);
  const context = contextWith({ directory });
  const first = await registry.call("files_read", { path: "f", lines: 3 }, context);
  expect(first.output).toMatch(/^1\tx+\n2\tx+\n3\tx+\n\[Lines 1 to 3 are shown\./);
  const beyond = await registry.call("files_read", { path: "f", from_line: 10_000 }, context);
  expect(beyond).toMatchObject({ status: "failed", output: expect.stringContaining("NUL bytes") });
});

test("[TLS38] no further than 64 MiB is looked for a line, and a line without end is shown by its beginning", async () => {
  const mebibyte = "y".repeat(1023).concat("\n").repeat(1024);
  const directory = directoryWith({ many: mebibyte.repeat(65), one: "z".repeat(65 * 1024 * 1024) });
  const context = contextWith({ directory });
  const call = (given: Record<string, unknown>) => registry.call("files_read", given, context);
  expect((await call({ path: "many", from_line: 65_536, lines: 1 })).output).toMatch(
    /^65536\ty{1023}\n\[Lines 65536 to 65536 are shown. There is more, but further than this tool looks.\]$/,
  );
  expect(await call({ path: "many", from_line: 65_537 })).toMatchObject({
    status: "failed",
    output: 'Line 65537 of "many" is further than this tool looks (64 MiB). It saw 65536 lines.',
  });
  expect(await call({ path: "one" })).toMatchObject({
    status: "completed",
    truncated: true,
    output: `1\t${"z".repeat(2_000)} [… the line is cut after 2000 characters]\n[Lines 1 to 1 are shown. There is more, but further than this tool looks.]`,
  });
});

test("[TLS38] a read that is cancelled ends, and no file stays open", async () => {
  const directory = directoryWith({ f: `${"y".repeat(1023)}\n`.repeat(32 * 1024) });
  const openFiles = () => readdirSync("/proc/self/fd").length;
  const before = process.platform === "linux" ? openFiles() : 0;
  const stop = new AbortController();
  const reading = registry.call(
    "files_read",
    { path: "f", from_line: 1_000_000 },
    contextWith({ directory, signal: stop.signal }),
  );
  setImmediate(() => stop.abort());
  expect(await reading).toMatchObject({ status: "failed", output: expect.stringContaining("was cancelled") });
  if (process.platform !== "linux") return;
  while (openFiles() > before) await new Promise((resolve) => setTimeout(resolve, 10));
});

test("[TLS39] NUL bytes make a file no text", async () => {
  const refusal = failed('"f" is no text in UTF-8: it contains NUL bytes. It was not read.');
  expect(await reading(Buffer.from("PK\x03\x04\0\0"))).toEqual(refusal);
  expect(await reading(Buffer.from("text in UTF-16", "utf16le"))).toEqual(refusal);
  expect(await reading("\0")).toEqual(refusal);
});

test("[TLS39] what is no UTF-8 is shown with U+FFFD, and a byte order mark is not shown", async () => {
  expect(await reading(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe6, 0xbc]))).toEqual(
    done("1\ta\ufffdb\n2\t\ufffd"),
  );
  expect(await reading("\ufeffone\n\ufefftwo")).toEqual(done("1\tone\n2\t\ufefftwo"));
  expect(await reading("\ufeff")).toEqual(done("1\t"));
});

test("[TLS39] a character that lies across two reads is one", async () => {
  for (const before of [65_533, 65_534, 65_535]) {
    const filler = `${"f\n".repeat(2_000)}${"x".repeat(before - 4_000)}🧵\nend`;
    expect((await reading(filler, { from_line: 2_002 })).output).toBe("2002\tend");
    const short = `${"f\n".repeat(32_000)}${"x".repeat(before - 64_000)}🧵\nend`;
    expect((await reading(short, { from_line: 32_001 })).output).toBe(
      `32001\t${"x".repeat(before - 64_000)}🧵\n32002\tend`,
    );
  }
});
