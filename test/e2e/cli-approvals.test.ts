import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runSql } from "../contract/support/stage.js";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
});
afterEach(() => home.remove());

const COMMAND = "please run `echo out; echo made > made.txt`";

async function waitingRun(): Promise<{ id: string; thread_id: string }> {
  const { data } = await home.json("runs", "--status", "waiting");
  expect(data).toHaveLength(1);
  return data[0];
}

describe("approvals on the command line", () => {
  test("[CLI240] without a terminal the command ends, says what waits and how to answer, and the run waits on", async () => {
    await home.serve();
    const sent = await home.run(["send", COMMAND]);
    expect(sent.code).toBe(1);
    expect(sent.stderr).toMatch(
      /\[approval\] demo wants to call bash:\n {2}\| echo out; echo made > made.txt\n/,
    );
    const run = await waitingRun();
    expect(sent.stderr).toContain(`heddle runs approve ${run.id}`);
    const json = await home.run(["send", "--json", COMMAND]);
    expect(JSON.parse(json.stderr || json.stdout)).toMatchObject({
      error: { kind: "run.waiting" },
    });
    expect(await home.ok("runs", "approve", run.id)).toMatch(
      /^Allowed: bash {2}run 1 {2}(running|completed)/,
    );
    const again = await home.run(["runs", "approve", run.id]);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("waits for no answer");
    expect(again.stderr).toContain("heddle runs --status waiting");
    const another = await home.run(["runs", "approve", run.id, "call_none", "--json"]);
    expect(another.code).toBe(1);
    expect(JSON.parse(another.stderr).error).toMatchObject({
      kind: "run.not_asking",
      run_id: run.id,
      tool_call_id: "call_none",
    });
  });

  test("[CLI241] --approve all allows what a run asks for, none does not, and anything else is a mistake", async () => {
    await home.serve();
    expect(await home.ok("send", "--approve", "all", COMMAND)).toContain("bash answered");
    const denied = await home.run(["send", "--approve", "none", COMMAND]);
    expect(denied.code).toBe(0);
    expect(denied.stdout).toContain("did not allow");
    expect((await home.run(["send", "--approve", "perhaps", COMMAND])).code).toBe(2);
  });

  test("[CLI242] on a terminal one is asked, and always is remembered for the thread", async () => {
    await home.serve();
    const answers: [string, string][] = [["Allow bash?", "\u001b[B\r"]];
    const sent = await home.onTerminal(["send", COMMAND], { answers });
    expect(sent.code).toBe(0);
    expect(sent.stdout).toContain("bash answered");
    expect(await home.ok("send", "--continue", COMMAND)).toContain("bash answered");
    const { data: threads } = await home.json("threads");
    expect(await home.ok("threads", "show", threads[0].id)).toMatch(/allowed +bash\n/);
    expect(await home.ok("threads", "revoke", threads[0].id, "bash")).toContain("Asks again");
    const again = await home.run(["threads", "revoke", threads[0].id, "bash"]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toBe("heddle: Nothing is allowed for good in this thread.\n");
    const nothing = await home.ok("threads", "revoke", threads[0].id);
    expect(nothing).toMatch(/^Nothing was allowed for good in .+\n$/);
    expect((await home.json("threads", "revoke", threads[0].id)).thread.id).toBe(threads[0].id);
    expect((await home.run(["send", "--continue", COMMAND])).stderr).toContain("heddle runs approve");
    const refused = await home.onTerminal(["send", COMMAND], {
      answers: [["Allow bash?", "\u001b[B\u001b[B\r"]],
    });
    expect(refused.stdout).toContain("did not allow");
  });

  test("[CLI243] without a running gateway a run waits all the same, and approving it shows it to its end", async () => {
    const sent = await home.run(["send", COMMAND]);
    expect(sent.code).toBe(1);
    const { id } = await waitingRun();
    const approved = await home.run(["runs", "approve", id]);
    expect(approved.stdout).toContain("Allowed: bash");
    expect(approved.stdout).toContain("bash answered");
    expect(approved.code).toBe(0);
    expect((await home.json("runs")).data[0]).toMatchObject({ id, status: "completed" });
  });

  test("[CLI244] runs --tree shows who asked whom, whichever run of it is named", async () => {
    await home.serve();
    expect(await home.ok("send", "ask demo-notes to write down: buy milk")).toContain("demo-notes answered");
    const { data } = await home.json("runs");
    const child = data.find(({ agent_id }: { agent_id: string }) => agent_id === "demo-notes");
    const parent = data.find(({ agent_id }: { agent_id: string }) => agent_id === "demo");
    const tree = await home.ok("runs", "--tree", child.id);
    expect(tree).toMatch(/^demo {2}completed .*\n└─ demo-notes \(sync\) {2}completed .*\n$/);
    expect(tree).toBe(await home.ok("runs", "--tree", parent.id));
    expect(await home.ok("runs", "--tree")).toBe(tree);
  });

  test("[CLI244] runs --tree begins with the last run that is there, when the one above was forgotten", async () => {
    const gateway = await home.serve();
    await home.ok("send", "ask demo-notes to write down: buy milk");
    const { data } = await home.json("runs");
    const child = data.find(({ agent_id }: { agent_id: string }) => agent_id === "demo-notes");
    await gateway.stop();
    await runSql(join(home.data, "heddle.db"), `delete from run where id = '${child.parent_run_id}'`);
    await home.serve();
    expect(await home.ok("runs", "--tree", child.id)).toMatch(/^demo-notes \(sync\) {2}completed .*\n$/);
  });

  test("[CLI245] a long command is shown to its end before one is asked", async () => {
    await home.serve();
    const long = `echo ${"x".repeat(3_000)}; echo the end of it`;
    const sent = await home.onTerminal(["send", `please run \`${long}\``], {
      answers: [["Allow bash?", "\u001b[B\u001b[B\r"]],
    });
    const asked = sent.stdout.slice(0, sent.stdout.indexOf("Allow bash?"));
    expect(asked).toContain("xxx; echo the end of it");
    expect(sent.stdout).toContain("did not allow");
  });

  test("[CLI246] approve shows what it answers, and with --show all of it and answers nothing", async () => {
    await home.serve();
    const long = `echo ${"x".repeat(30_000)}; echo the end of it`;
    await home.run(["send", `please run \`${long}\``]);
    const { id } = await waitingRun();
    const shown = await home.ok("runs", "approve", id, "--show");
    expect(shown).toContain(`  | ${long}\n`);
    const { data } = await home.json("runs", "approve", id, "--show");
    expect(data).toMatchObject([{ run_id: id, name: "bash", arguments: JSON.stringify({ command: long }) }]);
    expect(data[0]).not.toHaveProperty("truncated");
    expect((await waitingRun()).id).toBe(id);
    expect((await home.run(["runs", "approve", id, "--show", "--deny"])).code).toBe(2);
    const denied = await home.run(["runs", "approve", id, "--deny"]);
    expect(denied.stdout).toMatch(/^Not allowed: bash/);
    expect(denied.stderr).toContain(`  | ${long.slice(0, 20_000)}\n[approval] Cut here`);
    const again = await home.run(["runs", "approve", id, "--show"]);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("waits for no answer") });
  });
});
