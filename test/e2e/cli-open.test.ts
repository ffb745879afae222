import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildCommand, CliHome } from "../support/cli.js";
import { http } from "../support/http.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
});
afterEach(() => home.remove());

test("[CLI250] open prints an address that lets one browser in; without a gateway it says how to start one", async () => {
  const without = await home.run(["open", "--no-open"]);
  expect(without.code).toBe(1);
  expect(without.stderr).toContain("No gateway is running");
  expect(without.stderr).toContain("Start one with `heddle`");
  await home.serve();
  const printed = (await home.run(["open", "--no-open"])).stdout.trim();
  expect(printed).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]{43}$/);
  expect((await http(printed)).headers["set-cookie"]).toHaveLength(1);
  expect((await http(printed)).headers["set-cookie"]).toBeUndefined();
  const json = JSON.parse((await home.run(["open", "--json"])).stdout);
  expect((await http(json.url)).headers["set-cookie"]).toHaveLength(1);
});
