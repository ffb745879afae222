import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  type HookPackage,
  type HookRuntime,
  loadHookModule,
  openUserPackage,
} from "../../src/hooks/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { context, failuresOf, file, PRE, refusal, runtime, sectionIds } from "./support.js";

const env = { GIVEN: "by the caller" };

/** The source of a module with one hook, `mod`, whose function has this body. */
function source(body: string, { top = "", more = "" } = {}): string {
  return `${top}
    const section = (content) => ({ contributions: [{ kind: "prompt_section", section_id: "s", title: "S", content: String(content) }] });
    export default {
      id: "mod", contributes: ["prompt_section"],
      subscriptions: [{ hook_id: "mod", phase: "${PRE}", ${more} async run(context, { signal }) { ${body} } }],
    };`;
}

async function load(path: string): Promise<HookPackage> {
  return openUserPackage({ module: path }, { env, cwd: dirname(path) });
}

async function withModule(text: string): Promise<{ hooks: HookRuntime; path: string }> {
  const path = file("hook.mjs", text);
  const hooks = runtime();
  hooks.install(await load(path));
  return { hooks, path };
}

async function said(hooks: HookRuntime): Promise<string | undefined> {
  return (await hooks.run(PRE, context)).contributions[0]?.section.content;
}

test("[HKR30] a module is a package in a thread of its own, with the environment it was given", async () => {
  const { hooks, path } = await withModule(
    source(
      `console.log("to nobody's wire"); context.thread_id = "mine";
       return section(JSON.stringify([context.hook_id, process.env, this.hook_id, isMainThread]));`,
      { top: `import { isMainThread } from "node:worker_threads";`, more: "priority: 5, budget: 500," },
    ),
  );
  expect(JSON.parse((await said(hooks)) ?? "")).toEqual(["mod", env, "mod", false]);
  expect(hooks.list()).toMatchObject([
    { id: "mod", source: { kind: "module", path }, subscriptions: [{ priority: 5, budget: 500 }] },
  ]);
});

test("[HKR30] what a module prints does not reach the program's own output, and an idle one does not keep it alive", () => {
  const path = file(
    "hook.mjs",
    source(`console.log("LOUD"); return section("quiet");`, { top: `console.error("LOUD");` }),
  );
  const script = `
    const { HookRuntime, loadHookModule } = await import(${JSON.stringify(join(process.cwd(), "src/hooks/index.ts"))});
    const hooks = new HookRuntime();
    hooks.install(await loadHookModule(${JSON.stringify(path)}, { env: {} }));
    const { contributions } = await hooks.run("${PRE}", { workspace_id: "w", thread_id: "t" });
    console.log(contributions[0].section.content);`;
  const run = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    encoding: "utf8",
    timeout: 50_000,
  });
  expect({ status: run.status, stdout: run.stdout, stderr: run.stderr }).toEqual({
    status: 0,
    stdout: "quiet\n",
    stderr: "",
  });
});

test("[HKR31] a module that can't be loaded is refused with the reason", async () => {
  const wrong: [string, string, RegExp][] = [
    ["hook.mjs", "export default {", /SyntaxError/],
    ["hook.mjs", `throw new Error("not today");`, /not today/],
    ["hook.mjs", `import "./not-there.mjs";`, /not-there/],
    ["hook.mjs", "export const hooks = 1;", /default export/],
    ["hook.mjs", "export default () => 1;", /default export/],
    ["hook.mjs", "process.exit(0);", /thread ended/],
    ["hook.txt", "", /\.txt is no JavaScript module/],
  ];
  for (const [name, text, words] of wrong) {
    const refused = await refusal(load(file(name, text)));
    expect(refused.kind).toMatch(/^hook\.module_(failed|unsupported)$/);
    expect(refused.message).toMatch(words);
  }
  expect((await refusal(load("hook.mjs"))).message).toContain("absolute path");
  expect((await refusal(load("/nonexistent/hook.mjs"))).message).toContain("no such file");
  const noRun = file(
    "hook.mjs",
    `export default { id: "mod", contributes: [], subscriptions: [{ hook_id: "mod", phase: "${PRE}" }, null] };`,
  );
  expect(await refusal(load(noRun))).toMatchObject({
    kind: "hook.invalid_package",
    message: expect.stringContaining("subscriptions.0.run: must be a function"),
  });
});

test("[HKR31] a module that never ends loading is given up", async () => {
  for (const text of ["for (;;);", "await new Promise(() => setInterval(() => {}, 1000));"]) {
    const refused = await refusal(loadHookModule(file("hook.mjs", text), { env, loadMs: 300 }));
    expect(refused).toMatchObject({
      kind: "hook.module_failed",
      data: { problem: "not loaded within 300 ms" },
    });
  }
});

test("[HKR31] TypeScript is loaded where this Node can, and refused with advice where it can't", async () => {
  const path = file("hook.ts", source(`const n: number = 1; return section(n);`));
  if ((process.features as { typescript?: unknown }).typescript) {
    const hooks = runtime();
    hooks.install(await load(path));
    expect(await said(hooks)).toBe("1");
  } else {
    const refused = await refusal(load(path));
    expect(refused.kind).toBe("hook.module_unsupported");
    expect(refused.message).toContain("compile it to .js");
  }
});

test("[HKR32] a module that is loaded again is new with all it imports, and nothing of the old one is left", async () => {
  const directory = temporaryDirectory();
  const part = (text: string) => writeFileSync(join(directory, "part.mjs"), `export const part = "${text}";`);
  const text = (version: number) =>
    source(`return section("${version} with " + part);`, {
      top: `import { createServer } from "node:net"; import { part } from "./part.mjs";
        await new Promise((done) => createServer().listen(new URL("./s${version}", import.meta.url).pathname, done));`,
    });
  const hears = (version: number) =>
    new Promise<boolean>((resolve) => {
      const socket = connect(join(directory, `s${version}`));
      onTestFinished(() => void socket.destroy());
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
  const hooks = runtime();
  part("one part");
  hooks.install(await load(file("hook.mjs", text(1), directory)));
  expect(await said(hooks)).toBe("1 with one part");
  expect(await hears(1)).toBe(true);
  part("another");
  await hooks.replace(await load(file("hook.mjs", text(2), directory)));
  expect(await said(hooks)).toBe("2 with another");
  expect([await hears(1), await hears(2)]).toEqual([false, true]);
  await hooks.close();
  expect(await hears(2)).toBe(false);
});

test("[HKR33] whatever a module does to itself, its call fails and the next one works", async () => {
  const bodies: [string, string, RegExp][] = [
    [`throw new Error("from the module")`, "threw", /from the module/],
    ["process.exit(1)", "crashed", /thread ended/],
    [`setTimeout(() => { throw new Error("later") }); await new Promise(() => {})`, "crashed", /later/],
    ["for (;;);", "late", /no answer within/],
    ["await new Promise(() => {})", "late", /no answer within/],
    [`return section("x".repeat(10_000_000))`, "too_large", /10000\d+ characters/],
    [
      `for (const m of [null, 1, { id: 1, json: "{" }]) parentPort.postMessage(m); await null`,
      "invalid_answer",
      /not understood/,
    ],
    ["return { contributions: [1n] }", "threw", /BigInt/],
  ];
  for (const [body, reason, words] of bodies) {
    const { hooks } = await withModule(
      source(`if (context.bad) { ${body} } return section("well");`, {
        top: `import { parentPort } from "node:worker_threads";`,
        more: `execution: "deadline", deadline_ms: ${reason === "late" ? 1_000 : 10_000},`,
      }),
    );
    const { contributions } = await hooks.run(PRE, { ...context, bad: true });
    expect(contributions).toEqual([]);
    const { last } = failuresOf(hooks, "mod");
    expect(last, body).toMatchObject([{ reason }]);
    expect(last[0]?.message).toMatch(words);
    // After a thread was ended for being stuck a call or two may still meet it.
    let content: string | undefined;
    while (content === undefined) content = await said(hooks);
    expect(content).toBe("well");
    await hooks.close();
  }
});

test("[HKR33] a thread that starts again with another description is not called", async () => {
  const { hooks, path } = await withModule(source(`process.exit(1)`));
  await hooks.run(PRE, context);
  writeFileSync(path, source(`return section("changed")`, { more: "priority: 1," }));
  expect(sectionIds(await hooks.run(PRE, context))).toEqual([]);
  expect(failuresOf(hooks, "mod").last).toMatchObject([{ reason: "not_started" }, { reason: "crashed" }]);
  await hooks.replace(await load(path));
  expect(await said(hooks)).toBe("changed");
});

test("[HKR34] a module is told when its answer is not wanted any more", async () => {
  const directory = temporaryDirectory();
  const path = file(
    "hook.mjs",
    source(
      `if (!context.wait) return section(stopped);
       await new Promise((done) => signal.addEventListener("abort", done)); stopped++; return section("late");`,
      { top: "let stopped = 0;", more: `execution: "deadline", deadline_ms: 1_000,` },
    ),
    directory,
  );
  const hooks = runtime();
  hooks.install(await load(path));
  expect((await hooks.run(PRE, { ...context, wait: true })).contributions).toEqual([]);
  expect(await said(hooks)).toBe("1");
});
