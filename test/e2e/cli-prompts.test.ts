import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { ownGit, repositoryAt } from "../atsf/repository.js";
import { buildCommand } from "../support/cli.js";
import { ModelHome } from "../support/cli-model.js";

const answer = { repeat: true, steps: [{ text: "ok" }] };
const pack = (content: string) => JSON.stringify({ role: "system", content });

let home: ModelHome;
beforeAll(buildCommand);
beforeEach(async () => {
  home = await ModelHome.open();
  await home.serveAgents();
  await home.ok("workspaces", "create", ".");
  home.model.play([answer]);
});
afterEach(() => home.remove());

/** The base prompt of the last request. */
async function base(...args: string[]): Promise<string> {
  home.model.forget();
  await home.ok("send", ...args, "hi");
  const { messages } = JSON.parse((await home.model.request(0)).body);
  return messages[0].content;
}

test("[CLI190] packs lists what is there, the default as such, and what can't be used with the reason", async () => {
  expect(await home.ok("prompts", "packs")).toBe(
    "No prompt packs found. One is a file like prompts/packs/default.json.\n",
  );
  home.write({ "prompts/packs/default.json": pack("Be brief."), "prompts/packs/broken.json": "{" });
  const text = await home.ok("prompts", "packs");
  expect(text).toMatch(/^PACK +STATE +FILE\n/);
  expect(text).toMatch(/^default \(default\) +usable +prompts\/packs\/default\.json$/m);
  expect(text).toMatch(/^broken +not usable +prompts\/packs\/broken\.json {2}.+$/m);
  const { data } = await home.json("prompts", "packs");
  expect(data.map(({ name, valid }: { name: string; valid: boolean }) => [name, valid])).toEqual([
    ["broken", false],
    ["default", true],
  ]);
});

test("[CLI191] a pack is used once it was synced and applied, by the threads that name it", async () => {
  const { thread } = await home.json("threads", "start");
  home.write({ "prompts/packs/default.json": pack("Be brief.") });
  expect(await home.ok("prompts")).toMatch(/^No prompt pack was read yet/);
  const synced = await home.run(["prompts", "sync", "--thread", thread.id]);
  expect(synced).toMatchObject({ code: 0, stderr: "Put it to use: heddle prompts apply default\n" });
  expect(synced.stdout).toMatch(/^Read: default {2}working tree, read .* sha256:[0-9a-f]{12}…\n$/);
  const early = await home.run(["send", "--thread", thread.id, "hi"]);
  expect(early.code).toBe(1);
  expect(early.stderr).toContain("`heddle prompts sync` reads it, `heddle prompts apply` puts it to use.");
  expect(await home.ok("prompts", "status")).toMatch(
    /^default\n {2}active {3}none\n {2}pending {2}working tree/,
  );
  expect(await home.ok("prompts", "apply")).toMatch(/^In use from the next run on: default {2}working tree/);
  expect(await base("--thread", thread.id)).toMatch(/^Be brief\./);
  expect(await home.ok("explain")).toContain("prompt pack default from the working tree: sha256:");
  home.write({ "prompts/packs/default.json": pack("Be long.") });
  expect(await base("--thread", thread.id)).toMatch(/^Be brief\./);
  await home.ok("prompts", "sync", "default");
  expect(await home.ok("prompts", "status", "--thread", thread.id)).toMatch(/active .*\n {2}pending /);
  await home.ok("prompts", "apply", "--thread", thread.id);
  expect(await base("--thread", thread.id)).toMatch(/^Be long\./);
});

test("[CLI191] what is unchanged or applied already is told, and is no failure", async () => {
  home.write({ "prompts/packs/default.json": pack("Be brief.") });
  await home.ok("prompts", "sync");
  await home.ok("prompts", "apply");
  expect(await home.ok("prompts", "sync")).toMatch(/^Unchanged: default/);
  expect(await home.ok("prompts", "apply")).toMatch(/^Nothing new to apply; in use: default/);
});

test("[CLI191] --version reads a revision, which stays named", async () => {
  ownGit();
  const repository = repositoryAt(home.cwd);
  repository.git("init", "-q");
  const commit = repository.commit({ "prompts/packs/review.json": pack("As committed.") });
  home.write({ "prompts/packs/review.json": pack("Edited.") });
  const { pending } = await home.json("prompts", "sync", "review", "--version", "HEAD");
  expect(pending).toMatchObject({ version: commit, prompt_pack: "review" });
  expect(await home.ok("prompts", "status", "review")).toContain(`commit ${commit.slice(0, 12)}`);
  expect((await home.json("prompts", "packs", "--version", "HEAD")).data).toHaveLength(1);
});

test("[CLI191] a failure is told with its stage and reason, ends with 1, and changes nothing in use", async () => {
  home.write({ "prompts/packs/default.json": pack("Be brief.") });
  await home.ok("prompts", "sync");
  await home.ok("prompts", "apply");
  home.write({ "prompts/packs/default.json": "{ not json" });
  const { code, stdout, stderr } = await home.run(["prompts", "sync"]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(
    /^heddle: The prompt pack default can't be used \(parse\): .* What was in use stays in use\.\n$/,
  );
  const json = await home.run(["prompts", "sync", "none", "--json"]);
  expect(JSON.parse(json.stderr).error).toMatchObject({
    kind: "prompt.sync_failed",
    pack: "none",
    stage: "read",
  });
  const status = await home.ok("prompts", "status", "default");
  expect(status).toMatch(/^default\n {2}active {3}working tree.*\n {2}failed {3}parse: /);
  const never = await home.run(["prompts", "apply", "none", "--json"]);
  expect(JSON.parse(never.stderr).error).toMatchObject({ kind: "prompt.nothing_pending", pack: "none" });
});

test("[CLI192] --when-idle waits for the run under way", async () => {
  const { thread } = await home.json("threads", "start");
  home.write({ "prompts/packs/default.json": pack("Be brief.") });
  await home.ok("prompts", "sync", "--thread", thread.id);
  await home.ok("prompts", "apply");
  home.write({ "prompts/packs/default.json": pack("Be long.") });
  home.model.forget();
  home.model.play([{ steps: [{ text: "so far" }, { hang: true }] }, answer]);
  const sending = home.begin("send", "--thread", thread.id, "wait");
  await sending.said("so far");
  await home.ok("prompts", "sync");
  expect(await home.ok("prompts", "apply", "--when-idle")).toBe(
    "default will be in use when the run under way has ended\n",
  );
  expect(await home.ok("prompts")).toContain("will be applied when the run under way has ended");
  sending.child.kill("SIGINT");
  await sending.ended;
  await expect.poll(async () => (await home.json("prompts")).data[0].pending).toBeUndefined();
  expect(await base("--thread", thread.id)).toMatch(/^Be long\./);
});
