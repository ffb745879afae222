import { execFileSync } from "node:child_process";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProviderEvent } from "../../src/providers/index.js";
import {
  agent,
  calls,
  delivery,
  end,
  KEY,
  type Message,
  ofType,
  said,
  sessionOf,
  stage,
  system,
  times,
  user,
  users,
} from "./codex-stage.js";

describe("the real codex", () => {
  test("[CDX1] a turn: text, usage, session, and the instructions once", async () => {
    const on = await stage();
    const events = await on.ask([system("RULE-ONE"), user("hello")]);
    expect(events.map(({ type }) => type).filter((type) => type !== "diagnostic")).toEqual([
      "request",
      "session",
      "text",
      "usage",
      "finish",
    ]);
    expect(ofType(events, "usage")[0]).toEqual({
      type: "usage",
      input: 10,
      output: 5,
      cached_input: 3,
      reasoning: 1,
    });
    expect(times(on, "RULE-ONE")).toBe(1);
    expect(users(on.body()).at(-1)).toBe("hello");
    expect(delivery(events)).toMatchObject({ way: "developer_instructions", session: "new", replayed: 0 });
  });

  test("[CDX8] kept and resumed turns hold the instructions once, and the session's own history", async () => {
    const on = await stage();
    const first = await on.ask([system("RULE-ONE"), user("one")]);
    const second = await on.ask(
      [system("RULE-ONE"), user("one"), agent("ok"), user("two")],
      sessionOf(first, 2, "RULE-ONE"),
    );
    expect(delivery(second)).toMatchObject({ way: "already_there", session: "kept", replayed: 0 });
    expect([times(on, "RULE-ONE"), users(on.body()).slice(-2)]).toEqual([1, ["one", "two"]]);
    await on.startAnew();
    const third = await on.ask(
      [system("RULE-ONE"), user("one"), agent("ok"), user("two"), agent("ok"), user("three")],
      sessionOf(first, 4, "RULE-ONE"),
    );
    expect(delivery(third)).toMatchObject({ way: "already_there", session: "resumed", replayed: 0 });
    expect([times(on, "RULE-ONE"), users(on.body()).slice(-3)]).toEqual([1, ["one", "two", "three"]]);
  });

  test("[CDX9] changed instructions: only the newest, in a new session with what was said", async () => {
    const on = await stage();
    const first = await on.ask([system("RULE-ONE"), user("the first word")]);
    const second = await on.ask(
      [system("RULE-TWO"), user("the first word"), agent("ok"), user("go on")],
      sessionOf(first, 2, "RULE-ONE"),
    );
    expect(delivery(second)).toMatchObject({ way: "developer_instructions", session: "new", replayed: 2 });
    expect([times(on, "RULE-ONE"), times(on, "RULE-TWO"), times(on, "the first word")]).toEqual([0, 1, 1]);
  });

  test("[CDX10] without its own tools the instructions are its system prompt, also when they change", async () => {
    const on = await stage();
    const limited = { ownTools: false };
    const first = await on.ask([system("RULE-ONE"), user("one")], limited);
    expect([times(on, "RULE-ONE"), times(on, "You are Codex")]).toEqual([1, 0]);
    const more = { ...limited, ...sessionOf(first, 2, "RULE-ONE") };
    const second = await on.ask([system("RULE-TWO"), user("one"), agent("ok"), user("two")], more);
    expect(delivery(second)).toMatchObject({ way: "system_prompt", session: "resumed", replayed: 0 });
    expect([times(on, "RULE-ONE"), times(on, "RULE-TWO"), users(on.body())]).toEqual([0, 1, ["one", "two"]]);
  });

  test("[CDX11] a session that was begun with other tools is not gone on with", async () => {
    const on = await stage();
    const first = await on.ask([system("RULE-ONE"), user("one")]);
    const second = await on.ask([system("RULE-ONE"), user("one"), agent("ok"), user("two")], {
      ownTools: false,
      ...sessionOf(first, 2, "RULE-ONE"),
    });
    expect(delivery(second)).toMatchObject({ way: "system_prompt", session: "new", replayed: 2 });
    expect(times(on, "RULE-ONE")).toBe(1);
  });

  test("[CDX12] a session that codex has lost is told anew", async () => {
    const on = await stage();
    const first = await on.ask([system("RULE-ONE"), user("one")]);
    await on.startAnew();
    await rm(join(on.home, ".codex/sessions"), { recursive: true });
    for (const name of await readdir(join(on.home, ".codex"))) {
      if (name.includes("sqlite")) await rm(join(on.home, ".codex", name));
    }
    const second = await on.ask(
      [system("RULE-ONE"), user("one"), agent("ok"), user("two")],
      sessionOf(first, 2, "RULE-ONE"),
    );
    expect(delivery(second)).toMatchObject({ session: "new", replayed: 2 });
    expect([end(second)?.type, times(on, "RULE-ONE")]).toEqual(["finish", 1]);
  });

  test("[CDX13] AGENTS.md of the project is not read by codex", async () => {
    const on = await stage();
    await writeFile(join(on.directory, "AGENTS.md"), "PROJECT-RULE");
    await on.ask([system("RULE-ONE"), user("one")]);
    expect([times(on, "PROJECT-RULE"), times(on, "RULE-ONE")]).toEqual([0, 1]);
  });

  test("[CDX40] a cancelled turn leaves nothing running, its commands included, and the next one is told all", async () => {
    const on = await stage([calls("c1", "exec_command", { cmd: LONG, yield_time_ms: 30_000 }), said("ok")]);
    const abort = new AbortController();
    const events: ProviderEvent[] = [];
    let cancelledAt = 0;
    const request = { model: "gpt-5.5", messages: [user("one")], work: on.work() };
    for await (const event of on.provider.generate(request, { signal: abort.signal })) {
      events.push(event);
      if (event.type !== "tool_call") continue;
      await expect.poll(() => running("sleep 7654").length).toBe(2);
      cancelledAt = performance.now();
      abort.abort();
    }
    expect(end(events)).toEqual({ type: "aborted" });
    expect(performance.now() - cancelledAt).toBeLessThan(3_000);
    expect([...running("sleep 7654"), ...running(on.directory)]).toEqual([]);
    const next = await on.ask([user("one"), user("two")]);
    expect([end(next)?.type, users(on.body()).at(-1)]).toEqual(["finish", "one\n\ntwo"]);
  });

  test("[CDX41] after kill -9 of codex the turn fails in its words, nothing is left, and the next one goes on", async () => {
    const on = await stage([calls("c1", "exec_command", { cmd: LONG, yield_time_ms: 30_000 }), said("ok")]);
    const events: ProviderEvent[] = [];
    const request = { model: "gpt-5.5", messages: [user("one")], work: on.work() };
    for await (const event of on.provider.generate(request)) {
      events.push(event);
      if (event.type !== "tool_call") continue;
      await expect.poll(() => running("sleep 7654").length).toBe(2);
      for (const pid of running("bin/codex .*app-server")) process.kill(pid, "SIGKILL");
    }
    expect(end(events)).toMatchObject({ type: "failed", code: "program.exited" });
    await expect.poll(() => running("sleep 7654")).toEqual([]);
    expect(end(await on.ask([user("one"), user("two")]))?.type).toBe("finish");
  });

  test("[CDX50] a refusal of the server is told in its words, without the key", async () => {
    const refusal = { error: { type: "invalid_request_error", message: `no such thing as ${KEY}` } };
    const on = await stage([{ repeat: true, steps: [{ status: 400, body: refusal }] }]);
    const failed = end(await on.ask([user("one")]));
    expect(failed).toMatchObject({ type: "failed", code: "program.failed" });
    expect(JSON.stringify(failed)).toContain("no such thing as [redacted]");
  });

  test("[CDX51] who is not signed in is told what to run", async () => {
    const on = await stage();
    await writeFile(join(on.home, ".codex/config.toml"), "");
    const failed = end(await on.ask([user("one")]));
    expect(failed).toMatchObject({ type: "failed", code: "program.signed_out" });
    expect(JSON.stringify(failed)).toContain("codex login");
    expect(on.server.requests).toEqual([]);
  });

  test("[CDX60] any text arrives as it is; one that codex does not take fails clearly", async () => {
    const on = await stage();
    const odd = `--help\u0000 \\ "quoted" \n\u2028 ${"x".repeat(1_000_000)}`;
    expect(end(await on.ask([system(`-- ${"y".repeat(1_000_000)}`), user(odd)]))?.type).toBe("finish");
    expect(users(on.body()).at(-1)).toBe(odd);
    expect(times(on, "y".repeat(1_000_000))).toBe(1);
    await on.ask([user("half \ud83d of one")]);
    expect(users(on.body()).at(-1)).toBe("half \ufffd of one");
    expect(end(await on.ask([user("z".repeat(1_100_000))]))).toMatchObject({ code: "program.failed" });
  });

  test("[CDX61] images reach the model, thinking and effort as well", async () => {
    const on = await stage([{ steps: [{ thinking: ["hm ", "so"] }, { text: "seen" }] }]);
    const work = on.work();
    const events: ProviderEvent[] = [];
    const content = [
      { type: "text" as const, text: "look" },
      { type: "image" as const, data: PIXEL, mimeType: "image/png" },
    ];
    const messages: Message[] = [{ role: "user", content }];
    const params = { reasoning_effort: "high" as const };
    for await (const event of on.provider.generate({ model: "gpt-5.5", messages, params, work }))
      events.push(event);
    expect(ofType(events, "thinking").map(({ text }) => text)).toEqual(["hm ", "so"]);
    expect(on.server.requests[0]?.body).toContain(`data:image/png;base64,${PIXEL}`);
    expect(on.body()).toMatchObject({ reasoning: { effort: "high" } });
  });
});

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Codex starts it in a session of its own. */
const LONG = "sleep 7654 & sleep 7654";

function running(pattern: string): number[] {
  const lines = execFileSync("ps", ["-eo", "pid=,stat=,args="], { encoding: "utf8" }).split("\n");
  return lines
    .map((line) => /^\s*(\d+) (\S+) +(.*)$/.exec(line))
    .filter(
      (found) =>
        found &&
        !found[2]?.startsWith("Z") &&
        new RegExp(`^(?!ps|/bin/bash).*${pattern}`).test(found[3] ?? ""),
    )
    .map((found) => Number(found?.[1]));
}
