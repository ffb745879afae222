import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/stores.js";
import * as app from "../../app/index.js";
import { dataDirectory, readAddress } from "./data-dir.js";

test("[CLI1] a command looks where a gateway puts its address", () => {
  for (const given of [undefined, "", "x", "/a/../b"]) {
    for (const env of [{}, { XDG_DATA_HOME: "" }, { XDG_DATA_HOME: "/data" }]) {
      expect(dataDirectory(given, env)).toBe(app.dataDirectory(given, env));
    }
  }
  const dir = temporaryDirectory();
  const address = { url: "http://127.0.0.1:1", token: "t", pid: 1 };
  for (const text of [JSON.stringify({ ...address, more: 1 }), "", "{", "null", '{"url":1}']) {
    writeFileSync(join(dir, "gateway.json"), text);
    expect(readAddress(dir), text).toEqual(app.readAddress(dir));
  }
  writeFileSync(join(dir, "gateway.json"), JSON.stringify(address));
  expect(readAddress(dir)).toEqual(address);
});
