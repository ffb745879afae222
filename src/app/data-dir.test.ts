import { readdirSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/stores.js";
import {
  dataDirectory,
  lockDataDirectory,
  persistentToken,
  readAddress,
  removeAddress,
  writeAddress,
} from "./data-dir.js";

test("[APP1] where the data directory is", () => {
  expect(dataDirectory("/x/../y", { XDG_DATA_HOME: "/data" })).toBe("/y");
  expect(dataDirectory(undefined, { XDG_DATA_HOME: "/data" })).toBe("/data/heddle");
  expect(dataDirectory(undefined, {})).toBe(join(homedir(), ".local/share/heddle"));
  expect(dataDirectory(undefined, { XDG_DATA_HOME: "" })).toBe(join(homedir(), ".local/share/heddle"));
});

test("[APP2] the token stays, is private, and a broken one is replaced", () => {
  const dir = temporaryDirectory();
  const token = persistentToken(dir);
  expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(persistentToken(dir)).toBe(token);
  expect(statSync(join(dir, "token")).mode & 0o777).toBe(0o600);
  writeFileSync(join(dir, "token"), "short");
  const next = persistentToken(dir);
  expect(next).toHaveLength(43);
  expect(next).not.toBe(token);
});

test("[APP3] a broken gateway.json means no gateway", () => {
  const dir = temporaryDirectory();
  expect(readAddress(dir)).toBeUndefined();
  const address = { url: "http://127.0.0.1:1", token: "t", pid: 1 };
  writeAddress(dir, address);
  expect(readAddress(dir)).toEqual(address);
  expect(statSync(join(dir, "gateway.json")).mode & 0o777).toBe(0o600);
  for (const text of ["", "{", "null", "[]", '{"url":1,"token":"t","pid":1}', '{"url":"u"}']) {
    writeFileSync(join(dir, "gateway.json"), text);
    expect(readAddress(dir), text).toBeUndefined();
  }
  removeAddress(dir);
  removeAddress(dir);
});

test("[APP5] what a killed gateway left of writing a file is used up by the next", () => {
  const dir = temporaryDirectory();
  for (const name of ["token.tmp", "gateway.json.tmp"]) writeFileSync(join(dir, name), "half");
  persistentToken(dir);
  writeAddress(dir, { url: "http://127.0.0.1:1", token: "t", pid: 1 });
  expect(readdirSync(dir).sort()).toEqual(["gateway.json", "token"]);
});

test("[APP4] a data directory that can't be made is refused by name", () => {
  const file = join(temporaryDirectory(), "file");
  writeFileSync(file, "");
  expect(() => lockDataDirectory(join(file, "below"))).toThrow(join(file, "below"));
  expect(() => lockDataDirectory(join(file, "below"))).toThrow(
    expect.objectContaining({ kind: "data_dir.unusable" }),
  );
});
