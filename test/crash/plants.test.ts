import { spawn } from "node:child_process";
import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { Chance } from "./chance.js";
import { Broken, checkAtRest, checkStarted } from "./checker.js";
import { type Known, type KnownFolder, type KnownThread, Ledger, type Said } from "./ledger.js";
import { Listener } from "./listener.js";
import { saveRootDoc } from "./operations/documents.js";
import { createFolder } from "./operations/folders.js";
import { say } from "./operations/runs.js";
import { prepare, work } from "./workload.js";
import { World } from "./world.js";

let world: World;
let ledger: Ledger;
let before: string;

/** Clients work for a while, everything comes to its end, and the checker finds nothing. */
beforeAll(async () => {
  world = await World.make({ dir: temporaryDirectory() });
  ledger = new Ledger(new Chance("plants"), 3);
  const listener = new Listener();
  await prepare(world, ledger);
  await listener.follow(world);
  const working = work(world, ledger);
  await sleep(1_500);
  await working.stop();
  const acting = {
    workspace_id: world.workspace_id,
    ledger,
    known: ledger.clients[0] as Known,
    line: await world.line(),
  };
  for (const operation of [createFolder, saveRootDoc, say]) await operation(acting);
  await checkAtRest({ world, ledger, listener });
  await world.kill();
  before = `${world.dir}.before`;
  cpSync(world.dir, before, { recursive: true, preserveTimestamps: true });
}, 120_000);
afterAll(() => world?.close());

/** Starts a gateway over what was tampered with, and answers what the checker says. */
async function problemsAfter(tamper: () => void | Promise<void>): Promise<string[]> {
  rmSync(world.dir, { recursive: true });
  cpSync(before, world.dir, { recursive: true, preserveTimestamps: true });
  await tamper();
  const listener = new Listener();
  await world.start();
  await listener.follow(world);
  const found = await checkStarted({ world, ledger, listener })
    .then(() => checkAtRest({ world, ledger, listener, restWithinMs: 2_000 }))
    .then(() => [])
    .catch((error) => (error instanceof Broken ? [...error.problems] : Promise.reject(error)));
  await world.kill();
  return found;
}

function sql(...statements: string[]): void {
  const database = sqliteDriver().open(join(world.data, "heddle.db"));
  try {
    for (const statement of statements) database.exec(statement);
  } finally {
    database.close();
  }
}

/** A message that was acknowledged and answered, in a thread of the project. */
function answered(): { thread: KnownThread; said: Said } {
  for (const thread of ledger.threads()) {
    const said = thread.log.find(({ run, maybe }) => run !== undefined && !maybe);
    if (said && !thread.deleted && !thread.inWorktree) return { thread, said };
  }
  throw new Error("nothing was answered");
}

const folders = () => ledger.clients.flatMap((client) => client.folders);
const logOf = ({ id }: KnownThread) => join(world.project, ".agent/threads", id, "messages.jsonl");

function editLog(thread: KnownThread, edit: (lines: string[]) => string[]): void {
  const lines = readFileSync(logOf(thread), "utf8").split("\n").slice(0, -1);
  writeFileSync(
    logOf(thread),
    edit(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
}

test("[CRS10] where nothing was planted the checker finds nothing", async () => {
  expect(await problemsAfter(() => {})).toEqual([]);
});

test("[CRS10] an acknowledged message that was taken out of the file and the store is found lost", async () => {
  const { thread, said } = answered();
  const found = await problemsAfter(() => {
    editLog(thread, (lines) => lines.filter((line) => !line.includes(said.id as string)));
    sql(`delete from message where thread_id = '${thread.id}' and message_id = '${said.id}'`);
  });
  expect(found).toContainEqual(expect.stringMatching(new RegExp(`^lost: "${said.text}" .*is not there`)));
});

test("[CRS10] an acknowledged version of a document that is gone is found lost", async () => {
  const found = await problemsAfter(() =>
    sql(
      "delete from thread_agents_doc_revision where version = (select max(version) from thread_agents_doc_revision)",
    ),
  );
  expect(found).toContainEqual(
    expect.stringMatching(/^lost: version \d+ of AGENTS.md of .* was acknowledged/),
  );
});

test("[CRS10] an acknowledged name in the tree that is another is found lost", async () => {
  const [{ id, name }] = folders() as [KnownFolder];
  const found = await problemsAfter(() => sql(`update thread_folder set name = 'Other' where id = '${id}'`));
  expect(found).toContainEqual(
    expect.stringMatching(`^lost: folder ${id} was acknowledged as .*${name}.* and is .*Other`),
  );
});

test("[CRS10] a notification that is missing from what was told is found lost", async () => {
  const found = await problemsAfter(() =>
    sql("delete from notification where seq = (select max(seq) - 5 from notification)"),
  );
  expect(found).toContainEqual(expect.stringMatching(/^lost: (notification \d+ came after|whoever follows)/));
});

test("[CRS11] a message that stands there a second time, under another id, is found doubled", async () => {
  const { thread, said } = answered();
  const found = await problemsAfter(() =>
    editLog(thread, (lines) => {
      const again = lines.find((line) => line.includes(said.id as string)) as string;
      return [...lines, again.replaceAll(said.id as string, "00000000-0000-4000-8000-000000000000")];
    }),
  );
  expect(found).toContainEqual(
    expect.stringMatching(new RegExp(`^doubled: "${said.text}" .* stands there 2 times`)),
  );
});

test("[CRS11] a command that ran a second time is found doubled", async () => {
  let line = "";
  const found = await problemsAfter(() => {
    [line = ""] = readFileSync(world.trace, "utf8").split("\n");
    appendFileSync(world.trace, `${line}\n`);
  });
  expect(found).toContainEqual(`doubled: the command "${line}" ran twice`);
});

test("[CRS12] a run that says it is running, and that nobody runs, is found stuck", async () => {
  const { thread, said } = answered();
  // Put there while the gateway runs: one that starts would bring it to its end.
  const planted = problemsAfter(() => {});
  const plant = async () => {
    while (world.gateway === undefined || !(await world.gateway.ready)) await sleep(5);
    sql(
      `update run set status = 'running', ended_at = null where id = '${said.run}'`,
      `update thread set status = 'running' where id = '${thread.id}'`,
    );
  };
  await plant();
  expect(await planted).toContainEqual(expect.stringMatching(`^stuck: run ${said.run} .*never ends`));
});

test("[CRS13] a process that was left behind in the project is found", async () => {
  const child = spawn("sleep", ["60"], { cwd: world.project, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  const found = await problemsAfter(() => {});
  expect(found).toContainEqual(expect.stringMatching(/^left: the process .*sleep 60/));
}, 60_000);
