import { expect, test } from "vitest";
import { programConfig } from "./config.js";

const LOCAL = "127.0.0.1,localhost,::1";
const proxiesOf = (env: NodeJS.ProcessEnv, own: object = {}) => {
  const seen = programConfig("acp", { command: "agent", env: own }, env).env;
  return [seen.NO_PROXY, seen.no_proxy];
};

test("[PDT34] every program reaches this machine without a proxy", () => {
  for (const id of ["claude-cli", "codex-cli", "pi-cli", "acp"] as const) {
    const { env } = programConfig(id, { command: "agent" }, { HTTP_PROXY: "http://proxy:3128" });
    expect(env).toEqual({ HTTP_PROXY: "http://proxy:3128", NO_PROXY: LOCAL, no_proxy: LOCAL });
  }
});

test("[PDT34] what is reached without a proxy otherwise stays", () => {
  expect(proxiesOf({ NO_PROXY: "corp, localhost" })).toEqual([
    "corp, localhost,127.0.0.1,::1",
    "corp, localhost,127.0.0.1,::1",
  ]);
  // Programs differ in which of the two they read first.
  expect(proxiesOf({ no_proxy: "corp", NO_PROXY: "" })).toEqual([`corp,${LOCAL}`, `corp,${LOCAL}`]);
  expect(proxiesOf({ no_proxy: "a", NO_PROXY: "b" })).toEqual([`b,${LOCAL}`, `a,${LOCAL}`]);
  expect(proxiesOf({ NO_PROXY: "corp" }, { NO_PROXY: "mine" })).toEqual([`mine,${LOCAL}`, `mine,${LOCAL}`]);
  // Nothing goes over a proxy, which only holds as long as it stands alone.
  expect(proxiesOf({ NO_PROXY: "*" })).toEqual(["*", "*"]);
});
