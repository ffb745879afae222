import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/support/stores.js";
import { Agents } from "../agents/index.js";
import { systemClock } from "../base/index.js";
import { openStore, trust, workspaces } from "../store/index.js";
import { ProjectConfigs } from "./project-files.js";

const quiet = () => {};
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const config = (agentId: string, description: string) =>
  JSON.stringify({ agents: [{ agentId, description, chat: { provider: "demo" } }] });

/** A workspace whose project's configuration is trusted, and what was told to have changed. */
async function trusted(env: Record<string, string> = {}, description = "ours") {
  const directory = temporaryDirectory();
  const root = join(directory, "project");
  mkdirSync(root);
  const file = join(root, "heddle.config.json");
  writeFileSync(file, config("team", description));
  const store = await openStore(join(directory, "heddle.db"));
  onTestFinished(() => store.close());
  const changed: string[] = [];
  const agents = new Agents({ env: {} });
  const projects = new ProjectConfigs({
    store,
    clock: systemClock,
    env,
    agents,
    log,
    useServers: quiet,
    changed: (workspace_id) => void changed.push(workspace_id),
  });
  const content_sha256 = projects.read(root).files[0]?.sha256 as string;
  await store.write({ key: "wks_1" }, function* () {
    const row = { id: "wks_1", name: "one", root_path: root, home: 0, seq: 0 };
    yield* workspaces.insertWorkspace({ ...row, created_at: 1, updated_at: 1, deleted_at: null });
    yield* trust.saveTrust({ workspace_id: "wks_1", kind: "config", content_sha256, trusted_at: 1 });
  });
  await projects.begin();
  expect(changed.splice(0)).toEqual(["wks_1"]);
  const write = (text: string) => writeFileSync(file, config("evil", text));
  const distrust = () => store.write({ key: "wks_1" }, () => trust.removeTrust("wks_1", "config"));
  return { projects, agents, changed, write, distrust, edit: () => write("ours") };
}

test("[CFG31] a project that nobody uses is looked at once in twenty times", async () => {
  const { projects, changed, edit } = await trusted();
  projects.look();
  edit();
  for (let look = 0; look < 19; look++) projects.look();
  expect(changed).toEqual([]);
  projects.look();
  expect(changed).toEqual(["wks_1"]);
});

test("[CFG31] one that was used a moment ago is looked at each time, and whoever uses it looks first", async () => {
  const first = await trusted();
  first.projects.look();
  first.edit();
  expect(first.agents.in("wks_1").get("team")).toBeUndefined();
  const second = await trusted();
  second.projects.look();
  expect(second.agents.in("wks_1").get("team")).toBeDefined();
  second.edit();
  second.projects.look();
  expect(second.changed).toEqual(["wks_1"]);
});

test("[SCP33] what a project was filled with is kept from children until trust is taken back, whatever its files say by then", async () => {
  const { projects, agents, distrust, write } = await trusted({ TEAM: "value" }, "$" + "{TEAM}");
  expect(projects.variables).toEqual(["TEAM"]);
  write("another");
  expect(agents.in("wks_1").get("team")).toBeUndefined();
  await projects.refresh("wks_1");
  expect(projects.variables).toEqual(["TEAM"]);
  await distrust();
  await projects.refresh("wks_1");
  expect(projects.variables).toEqual([]);
});
