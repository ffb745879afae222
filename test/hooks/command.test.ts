import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openUserPackage, type UserPackage, userPackageSchema } from "../../src/hooks/index.js";
import { pidsIn, runs } from "../atsf/processes.js";
import { temporaryDirectory } from "../support/stores.js";
import { context, failuresOf, file, PRE, refusal, runtime, sectionIds, until } from "./support.js";

type CommandEntry = Exclude<UserPackage, { module: string }>;

const ANSWER = JSON.stringify({
  contributions: [{ kind: "prompt_section", section_id: "s", title: "S", content: "from a command" }],
});
const env = { PATH: process.env.PATH, GIVEN: "by the caller" };

/** A runtime with one command for one hook, `cmd`, in a directory of its own. */
async function withCommand(
  entry: Partial<CommandEntry>,
  subscription: Partial<CommandEntry["subscriptions"][number]> = {},
) {
  const cwd = temporaryDirectory();
  const hooks = runtime();
  hooks.install(
    await openUserPackage(
      {
        id: "cmd",
        contributes: ["prompt_section"],
        subscriptions: [{ hook_id: "cmd", phase: PRE, ...subscription }],
        ...entry,
      },
      { env, cwd },
    ),
  );
  return { hooks, cwd };
}

test("[HKR40] a command reads the context as JSON and answers contributions; it sees what it was given and no more", async () => {
  const program = file(
    "hook.mjs",
    `let text = "";
     for await (const chunk of process.stdin) text += chunk;
     const content = JSON.stringify({ context: JSON.parse(text), args: process.argv.slice(2), env: Object.keys(process.env).sort(), cwd: process.cwd() });
     process.stderr.write("this is for nobody's prompt");
     console.log(JSON.stringify({ contributions: [{ kind: "prompt_section", section_id: "s", title: "S", content }] }));`,
  );
  const { hooks, cwd } = await withCommand({ command: [process.execPath, program, "$HOME; echo 'x y'"] });
  const { contributions, diagnostics } = await hooks.run(PRE, {
    ...context,
    run_id: "run_1",
    text: "čaj 🧵",
  });
  expect(JSON.parse(contributions[0]?.section.content ?? "")).toEqual({
    context: { ...context, run_id: "run_1", text: "čaj 🧵", hook_id: "cmd", phase: PRE },
    args: ["$HOME; echo 'x y'"],
    env: ["GIVEN", "PATH"],
    cwd,
  });
  expect(diagnostics).toEqual([]);
  expect(hooks.list()).toMatchObject([
    { source: { kind: "command", command: `${process.execPath} ${program} $HOME; echo 'x y'` } },
  ]);
});

test("[HKR41] a shell is used only when asked for, and an entry that says neither or both is refused", async () => {
  const { hooks } = await withCommand({ shell: `echo "$GIVEN" >&2; cat >/dev/null; echo '${ANSWER}'` });
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["s"]);
  for (const wrong of [
    {},
    { shell: "true", command: ["true"] },
    { command: [] },
    { shell: "true", module: "/m.js" },
  ]) {
    const refused = await refusal(withCommand(wrong as Partial<CommandEntry>));
    expect(refused.kind).toBe("hook.invalid_package");
    expect(
      userPackageSchema.safeParse({ id: "cmd", contributes: [], subscriptions: [], ...wrong }).success,
    ).toBe(false);
  }
  const reserved = await refusal(withCommand({ shell: "true" }, { phase: "turn.pre_policy" }));
  expect(reserved.kind).toBe("hook.phase_reserved");
});

test("[HKR42] a command that is late is killed with everything in its group", async () => {
  const { hooks, cwd } = await withCommand(
    { shell: `trap '' TERM; sleep 1000 & echo $$ $! > pids.tmp; mv pids.tmp pids; wait; sleep 1000` },
    { execution: "deadline", deadline_ms: 60_000 },
  );
  const cancel = new AbortController();
  const running = refusal(hooks.run(PRE, context, { signal: cancel.signal }));
  await until(() => existsSync(join(cwd, "pids")));
  cancel.abort();
  expect((await running).kind).toBe("hook.cancelled");
  await hooks.close();
  expect(pidsIn(join(cwd, "pids")).map(runs)).toEqual([false, false]);
});

test("[HKR42] a deadline is enough for that", async () => {
  const { hooks, cwd } = await withCommand(
    { shell: "echo $$ > pid.tmp; mv pid.tmp pid; exec sleep 1000" },
    { execution: "deadline", deadline_ms: 300, failure_policy: "fail_closed" },
  );
  const failed = await refusal(hooks.run(PRE, context));
  expect(failed).toMatchObject({ kind: "hook.failed", data: { hook_id: "cmd", reason: "late" } });
  await hooks.close();
  expect(existsSync(join(cwd, "pid")) ? pidsIn(join(cwd, "pid")).map(runs) : [false]).toEqual([false]);
});

test("[HKR43] a command that writes without end is ended, and contributes nothing", async () => {
  const { hooks, cwd } = await withCommand({ shell: "echo $$ > pid; exec yes 'and so on'" });
  expect(sectionIds(await hooks.run(PRE, context))).toEqual([]);
  expect(failuresOf(hooks, "cmd").last).toMatchObject([{ reason: "too_large" }]);
  expect(pidsIn(join(cwd, "pid")).map(runs)).toEqual([false]);
});

test("[HKR44] every way to fail is told apart, with the end of what the command said", async () => {
  const noisy = `i=0; while [ $i -lt 2000 ]; do echo "line $i: žluťoučký" >&2; i=$((i+1)); done`;
  const cases: [Partial<CommandEntry>, string, RegExp, RegExp][] = [
    [{ shell: `${noisy}; echo '${ANSWER}'; exit 3` }, "exited", /exit code 3/, /line 1999: žluťoučký\n$/],
    [{ shell: "kill -9 $$" }, "exited", /ended by SIGKILL/, /^$/],
    [{ shell: "echo why >&2; echo no json" }, "invalid_answer", /no JSON/, /^why\n$/],
    [{ shell: `printf '"\\377"'` }, "invalid_answer", /UTF-8/, /^$/],
    [{ shell: "echo '[1]'" }, "invalid_answer", /not of the form/, /^$/],
    [{ command: ["/nonexistent/program"] }, "not_started", /ENOENT/, /^$/],
    [{ shell: "true", cwd: "/nonexistent/directory" }, "not_started", /ENOENT/, /^$/],
  ];
  for (const [entry, reason, message, detail] of cases) {
    const { hooks } = await withCommand(entry);
    const { contributions } = await hooks.run(PRE, context);
    expect(contributions).toEqual([]);
    const { last } = failuresOf(hooks, "cmd");
    expect(last, reason).toMatchObject([{ reason }]);
    expect(last[0]?.message).toMatch(message);
    expect(last[0]?.detail ?? "").toMatch(detail);
    expect((last[0]?.detail ?? "").length).toBeLessThan(5_000);
  }
});

test("[HKR45] what a command leaves behind in its group ends with it, and what it wrote counts", async () => {
  const { hooks, cwd } = await withCommand({ shell: `sleep 1000 & echo $! > pid; echo '${ANSWER}'` });
  expect(sectionIds(await hooks.run(PRE, context))).toEqual(["s"]);
  expect(pidsIn(join(cwd, "pid")).map(runs)).toEqual([false]);
});

test("[HKR46] a command may leave its input unread and say nothing", async () => {
  const silent = file("silent", "#!/bin/sh\nexec <&-\ntouch was-here\n");
  chmodSync(silent, 0o755);
  const { hooks, cwd } = await withCommand({ command: [silent] });
  const wide = { ...context, wide: "x".repeat(2_000_000) };
  expect(await hooks.run(PRE, wide)).toEqual({ contributions: [], diagnostics: [] });
  expect(readFileSync(join(cwd, "was-here"), "utf8")).toBe("");
  expect(failuresOf(hooks, "cmd").total).toBe(0);
});
