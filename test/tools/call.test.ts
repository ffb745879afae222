import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { builtInTools, filesPlugin, type ToolDefinition, type ToolOutcome } from "../../src/tools/index.js";
import { fired, gate } from "../hooks/support.js";
import { clockAt, contextWith, registryOf, tool } from "./support.js";

/** Calls a tool that does just this. */
async function calling(run: ToolDefinition["run"], context = contextWith()) {
  return registryOf(tool("a", { run })).call("a", { path: "x" }, context);
}

const LIMIT = 65_536;

describe("a call", () => {
  test("[TLS10] it answers status, output and how long it took", async () => {
    const clock = clockAt("2026-03-01T12:00:00Z");
    const run = () => {
      clock.pass(1234.4);
      return { status: "completed" as const, output: "done" };
    };
    expect(await calling(run, contextWith({ clock }))).toEqual({
      status: "completed",
      output: "done",
      duration_ms: 1234,
    });
    const back = () => {
      clock.pass(-10_000);
      return { status: "failed" as const, output: "no" };
    };
    expect(await calling(back, contextWith({ clock }))).toEqual({
      status: "failed",
      output: "no",
      duration_ms: 0,
    });
  });

  test("[TLS10] the tool gets the context and the values of its schema", async () => {
    const context = contextWith({ thread_id: "thr_1", agent_id: "general", directory: "/nowhere" });
    const seen: unknown[] = [];
    const parameters = z.object({ n: z.string().transform(Number), mode: z.string().default("fast") });
    const run: ToolDefinition["run"] = (args, given) => {
      seen.push(args, given);
      return { status: "completed", output: "" };
    };
    await registryOf(tool("a", { parameters, run })).call("a", '{"n": "7"}', context);
    expect(seen).toEqual([{ n: 7, mode: "fast" }, context]);
    expect(seen[1]).toBe(context);
  });

  test("[TLS10] a diff comes along", async () => {
    const diff = { path: "a.txt", oldText: "one", newText: "two" };
    expect(await calling(() => ({ status: "completed", output: "ok", diff }))).toMatchObject({ diff });
  });

  test("[TLS11] a tool that is not there is a failure that names the nearest", async () => {
    const registry = registryOf(...builtInTools, ...filesPlugin.tools, tool("notes_write"));
    const output = async (name: string) => (await registry.call(name, {}, contextWith())).output;
    expect(await registry.call("file_read", {}, contextWith())).toEqual({
      status: "failed",
      output: 'There is no tool "file_read". The nearest is "files_read". Nothing was done.',
      duration_ms: 0,
    });
    expect(await output("read_file")).toContain('nearest is "files_read"');
    expect(await output("Files_Read")).toContain('nearest is "files_read"');
    expect(await output("time_system")).toContain('nearest is "system_time"');
    for (const name of ["", "constructor", "__proto__", "toString"]) {
      expect(await output(name)).toContain("There is no tool");
    }
    expect((await output("x\n".repeat(1_000_000))).length).toBeLessThan(500);
    expect(await output("\ud800")).toContain("There is no tool");
    expect((await registryOf().call("a", {}, contextWith())).output).toContain("There are no tools here.");
  });
});

describe("arguments", () => {
  const registry = registryOf(tool("a"), tool("none", { parameters: z.object({}) }));

  test("[TLS12] they come as an object or as its JSON, and nothing is {}", async () => {
    const output = async (name: string, given: string | Record<string, unknown>) =>
      (await registry.call(name, given, contextWith())).output;
    expect(await output("a", { path: "x" })).toBe('{"path":"x"}');
    expect(await output("a", ' {"path": "x", "from_line": 2}\n')).toBe('{"path":"x","from_line":2}');
    for (const nothing of ["", " \n", "{}"]) expect(await output("none", nothing)).toBe("{}");
  });

  test("[TLS12] null for a key that may be left out is the same as leaving it out", async () => {
    const call = (given: Record<string, unknown>) => registry.call("a", given, contextWith());
    expect((await call({ path: "x", from_line: null })).output).toBe('{"path":"x"}');
    expect(await call({ path: null })).toMatchObject({ status: "failed" });
    const parameters = z.object({ parent: z.string().nullable().optional() });
    const takesNull = registryOf(tool("b", { parameters }));
    expect((await takesNull.call("b", '{"parent":null}', contextWith())).output).toBe('{"parent":null}');
  });

  test("[TLS13] what is wrong is named, with the nearest right key, and the tool is not called", async () => {
    let called = 0;
    const counting = tool("a", {
      run: () => {
        called++;
        return { status: "completed", output: "" };
      },
    });
    const wrong = registryOf(counting);
    const output = async (given: string | Record<string, unknown>) => {
      const outcome = await wrong.call("a", given, contextWith());
      expect(outcome.status).toBe("failed");
      return outcome.output;
    };
    const keys = "Its keys are: path, from_line.";
    expect(await output({ pth: "x" })).toBe(
      `a was not called: its arguments do not fit. "path" is missing. There is no key "pth"; the nearest is "path". ${keys}`,
    );
    expect(await output({ path: "x", line_from: 3 })).toContain('"line_from"; the nearest is "from_line"');
    expect(await output({ path: "x", from_line: "3" })).toContain(
      '"from_line" must be a number, not a string.',
    );
    expect(await output('{"path": "x",}')).toContain("a was not called: its arguments are not JSON (");
    for (const given of ["[1]", "null", '"path"', "7", "true"]) {
      expect(await output(given)).toBe(`a was not called: its arguments are no JSON object. ${keys}`);
    }
    for (const given of [null, [], 7, undefined]) {
      expect(await output(given as unknown as string)).toContain("no JSON object");
    }
    expect(await output('{"path": "x", "__proto__": {"admin": true}}')).toContain('no key "__proto__"');
    expect(await output('{"path": "x", "constructor": 1}')).toContain('no key "constructor"');
    expect(called).toBe(0);
  });

  test("[TLS13] a key deeper down is named by its way", async () => {
    const parameters = z.object({ item: z.strictObject({ name: z.string() }) });
    const deep = registryOf(tool("a", { parameters }));
    const output = async (given: Record<string, unknown>) =>
      (await deep.call("a", given, contextWith())).output;
    expect(await output({ item: {} })).toContain('"item.name" is missing.');
    expect(await output({ item: { name: "x", nam: 1 } })).toContain('"item" has no key "nam".');
    expect((await registry.call("none", { x: 1 }, contextWith())).output).toContain("It takes {}.");
  });

  test("[TLS13] whatever is sent, there is an answer, and the words are bounded", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, i) => [`key_${i}_${"x".repeat(200)}`, i]),
    );
    const hostile = [
      many,
      JSON.stringify(many),
      { ["k".repeat(1_000_000)]: 1 },
      `{"path": ${"[".repeat(200_000)}`,
      "[".repeat(1_000_000),
      `"${"x".repeat(5_000_000)}`,
      '{"path": "\\ud800"',
    ];
    for (const given of hostile) {
      const { status, output } = await registry.call("a", given, contextWith());
      expect(status).toBe("failed");
      expect(output.length).toBeLessThan(4_000);
      expect(output.isWellFormed()).toBe(true);
    }
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.json(), fc.dictionary(fc.string(), fc.anything())),
        async (given) => {
          const { status, output } = await registry.call("a", given, contextWith());
          expect(["completed", "failed"]).toContain(status);
          expect(output.length).toBeGreaterThan(0);
        },
      ),
    );
  });

  test("[TLS13] a schema that throws is the tool's failure", async () => {
    const parameters = z.object({ path: z.string() }).refine(() => {
      throw new Error("the schema is broken");
    });
    expect(await registryOf(tool("a", { parameters })).call("a", { path: "x" }, contextWith())).toMatchObject(
      {
        status: "failed",
        output: "a failed: the schema is broken",
      },
    );
  });
});

describe("a tool that goes wrong", () => {
  const throwing = (error: unknown, directory?: string) =>
    calling(
      () => {
        throw error;
      },
      contextWith(directory === undefined ? {} : { directory }),
    );

  test("[TLS14] its message is told, whether it throws or rejects", async () => {
    const failure = { status: "failed", output: "a failed: item 42 is not there", duration_ms: 0 };
    expect(await throwing(new Error("item 42 is not there"))).toEqual(failure);
    expect(await calling(() => Promise.reject(new Error("item 42 is not there")))).toEqual(failure);
    expect((await throwing(new Error("see docs/guide.md or a.b/c"))).output).toBe(
      "a failed: see docs/guide.md or a.b/c",
    );
  });

  test("[TLS14] no stack and no path outside the directory is told", async () => {
    const output = async (message: string, more: object = {}) =>
      (await throwing(Object.assign(new Error(message), more), "/home/me/project")).output;
    const code = { code: "ENOENT" };
    expect(await output("ENOENT: no such file, open '/home/me/project/a.txt'", code)).toBe(
      "a failed: ENOENT: no such file, open 'a.txt'",
    );
    expect(await output("ENOENT: no such file, open '/etc/passwd'", code)).toBe("a failed (ENOENT).");
    for (const path of [
      "/etc/passwd",
      "open /home/john doe/secret",
      "path=/root",
      "/home/me/project2/x",
      "/home/me/project",
      "/home/me/project//etc/passwd",
      "/mnt/home/me/project/x",
      "file:///etc/passwd",
      "~/.ssh/id",
      "C:\\Users\\me",
      "c:/Users/me",
      "\\\\server\\share",
      "it broke\n    at run (/opt/app/x.js:1:2)\n/etc/passwd",
    ]) {
      const told = await output(path);
      expect(told, path).toMatch(/^a failed(\.|: it broke)$/);
    }
    expect(await output("it broke\n    at run (tool.js:1:2)\n    at other")).toBe("a failed: it broke");
    expect(await output("x".repeat(1_000_000))).toHaveLength("a failed: ".length + 1_001);
    expect(await output("no", { code: "/etc/passwd" })).toBe("a failed: no");
    expect(await output("/x", { code: "/etc/passwd" })).toBe("a failed.");
  });

  test("[TLS14] anything can be thrown", async () => {
    const spiteful = {
      get message() {
        throw new Error("again");
      },
    };
    for (const thrown of [undefined, null, "words", 7, Symbol("s"), {}, spiteful, { message: 7, code: 9 }]) {
      expect(await throwing(thrown)).toEqual({ status: "failed", output: "a failed.", duration_ms: 0 });
    }
  });

  test("[TLS16] an answer that is no outcome is a failure", async () => {
    const spiteful = {
      status: "completed",
      get output(): string {
        throw new Error("not today");
      },
    };
    const garbage = [
      undefined,
      null,
      "done",
      7,
      [],
      {},
      { status: "completed" },
      { status: "ok", output: "x" },
      { status: "completed", output: 7 },
      { status: "completed", output: "x", truncated: "yes" },
      { status: "completed", output: "x", diff: { path: "a" } },
      spiteful,
    ];
    for (const answer of garbage) {
      const outcome = await calling(() => answer as ToolOutcome);
      expect(outcome.status).toBe("failed");
      expect(outcome.output).toMatch(/^a (gave an answer that is not understood|failed: not today)/);
    }
    const more = { status: "completed", output: "x", secret: "y" } as ToolOutcome;
    expect(await calling(() => more)).toEqual({ status: "completed", output: "x", duration_ms: 0 });
  });
});

describe("output", () => {
  const giving = (output: string, more: Partial<ToolOutcome> = {}) =>
    calling(() => ({ status: "completed", output, ...more }));

  test("[TLS15] 65,536 bytes are given whole, one more is cut with a marker", async () => {
    const whole = "x".repeat(LIMIT);
    expect(await giving(whole)).toEqual({ status: "completed", output: whole, duration_ms: 0 });
    const cut = await giving(`${whole}x`);
    expect(cut.truncated).toBe(true);
    expect(cut.output === `${"x".repeat(LIMIT - 22)}\n[… 23 bytes cut]`).toBe(true);
    expect(Buffer.byteLength(cut.output)).toBeLessThanOrEqual(LIMIT);
    expect(await giving("short", { truncated: true })).toMatchObject({ truncated: true });
    expect(await giving("short", { truncated: false })).not.toHaveProperty("truncated");
  });

  test("[TLS15] a tool that bounds its answer itself may give more, up to what it was registered with", async () => {
    const most = 2 * LIMIT;
    const long = (length: number) => {
      const run = () => ({ status: "completed" as const, output: "x".repeat(length) });
      return registryOf(tool("a", { run, mostOutputBytes: most })).call("a", { path: "x" }, contextWith());
    };
    expect((await long(most)).output).toHaveLength(most);
    const cut = await long(most + 1);
    expect(cut.truncated).toBe(true);
    expect(Buffer.byteLength(cut.output)).toBeLessThanOrEqual(most);
    for (const mostOutputBytes of [LIMIT - 1, 1024 * 1024 + 1, 70_000.5, Number.NaN])
      expect(() => registryOf(tool("a", { mostOutputBytes })), String(mostOutputBytes)).toThrow(
        "mostOutputBytes",
      );
  });

  test("[TLS15] whatever the text, the limit holds and no character is cut in two", async () => {
    const text = fc
      .array(fc.string({ unit: fc.constantFrom("a", "é", "\n", "🧵", "漢"), maxLength: 50 }), {
        maxLength: 20,
      })
      .map((parts) => parts.join("").repeat(300));
    await fc.assert(
      fc.asyncProperty(text, async (given) => {
        const { output, truncated = false } = await giving(given);
        expect(Buffer.byteLength(output)).toBeLessThanOrEqual(LIMIT);
        expect(output.isWellFormed()).toBe(true);
        expect(truncated).toBe(Buffer.byteLength(given) > LIMIT);
        const [, kept, missing] = /^(.*)\n\[… (\d+) bytes cut\]$/s.exec(output) ?? ["", given, "0"];
        expect(given.startsWith(kept as string)).toBe(true);
        expect(Buffer.byteLength(given)).toBe(Buffer.byteLength(kept as string) + Number(missing));
      }),
      { numRuns: 50 },
    );
  });

  test("[TLS15] half a character is replaced, also in a diff", async () => {
    const diff = { path: "a", oldText: "\ud800", newText: "x" };
    expect(await giving("a\udc00b", { diff })).toEqual({
      status: "completed",
      output: "a\ufffdb",
      diff: { path: "a", oldText: "\ufffd", newText: "x" },
      duration_ms: 0,
    });
  });
});

describe("the signal", () => {
  test("[TLS17] a call ends at once although the tool goes on, and what that does afterwards is ignored", async () => {
    for (const late of ["completes", "rejects", "never ends"]) {
      const stop = new AbortController();
      const { passed, open } = gate();
      const run = async (): Promise<ToolOutcome> => {
        stop.abort();
        await (late === "never ends" ? new Promise(() => {}) : passed);
        if (late === "rejects") throw new Error("too late");
        return { status: "completed", output: "too late" };
      };
      expect(await calling(run, contextWith({ signal: stop.signal }))).toEqual({
        status: "failed",
        output: "a was cancelled before it had ended. What it had done until then stands.",
        duration_ms: 0,
      });
      open();
      await new Promise((resolve) => setImmediate(resolve));
    }
  });

  test("[TLS17] a tool that heeds the signal is not blamed", async () => {
    const stop = new AbortController();
    const run: ToolDefinition["run"] = async (_, { signal }) => {
      queueMicrotask(() => stop.abort());
      await fired(signal);
      signal.throwIfAborted();
      throw new Error("unreachable");
    };
    expect((await calling(run, contextWith({ signal: stop.signal }))).output).toContain("was cancelled");
  });

  test("[TLS17] after the signal no tool is started", async () => {
    let started = false;
    const run = () => {
      started = true;
      return { status: "completed" as const, output: "" };
    };
    const before = await calling(run, contextWith({ signal: AbortSignal.abort() }));
    expect(before.output).toBe("a was cancelled before it began. Nothing was done.");
    const stop = new AbortController();
    const parameters = z.object({ path: z.string() }).refine(async () => {
      stop.abort();
      return true;
    });
    const registry = registryOf(tool("a", { parameters, run }));
    await registry.call("a", { path: "x" }, contextWith({ signal: stop.signal }));
    await new Promise((resolve) => setImmediate(resolve));
    expect(started).toBe(false);
  });

  test("[TLS17] an outcome that came before the signal stands, and no listener is left behind", async () => {
    const stop = new AbortController();
    let listeners = 0;
    const signal = new Proxy(stop.signal, {
      get(target, key) {
        if (key === "addEventListener") listeners++;
        if (key === "removeEventListener") listeners--;
        const value = Reflect.get(target, key);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const outcome = await calling(() => ({ status: "completed", output: "done" }), contextWith({ signal }));
    stop.abort();
    expect(outcome.output).toBe("done");
    await calling(
      () => Promise.reject(new Error("no")),
      contextWith({ signal: new AbortController().signal }),
    );
    expect(listeners).toBe(0);
  });
});
