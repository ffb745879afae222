import { expect, test } from "vitest";
import { isForeign } from "./origin.js";

test("[WIRE60] a gateway on one address answers to that and to loopback", () => {
  for (const host of ["192.168.1.5:4170", "192.168.1.5", "127.0.0.1:4170", "localhost:4170", "[::1]:4170"]) {
    expect(isForeign(host, undefined, "192.168.1.5")).toBe(false);
  }
  for (const host of ["192.168.1.6:4170", "evil.example:4170", "192.168.1.5.:4170", "[192.168.1.5]:4170"]) {
    expect(isForeign(host, undefined, "192.168.1.5")).toBe(true);
  }
  expect(isForeign("[fd00::1]:4170", undefined, "fd00::1")).toBe(false);
  expect(isForeign("Box.local:4170", undefined, "box.local")).toBe(false);
});

test("[WIRE60] a gateway that listens everywhere answers to any address, but to no name except localhost", () => {
  for (const everywhere of ["0.0.0.0", "::"]) {
    for (const host of ["192.168.1.5:4170", "10.0.0.1", "[fd00::1]:4170", "[::1]", "localhost:4170"]) {
      expect(isForeign(host, undefined, everywhere)).toBe(false);
    }
    for (const host of [
      "evil.example",
      "box.local:4170",
      "10.0.0.1.",
      "[10.0.0.1]:4170",
      "fd00::1",
      "[]",
      "[fd00::1",
      "",
    ]) {
      expect(isForeign(host, undefined, everywhere)).toBe(true);
    }
  }
});

test("[WIRE60] on any address the Origin must be that of the Host", () => {
  expect(isForeign("10.0.0.1:4170", "http://10.0.0.1:4170", "0.0.0.0")).toBe(false);
  expect(isForeign("10.0.0.1:4170", "http://10.0.0.2:4170", "0.0.0.0")).toBe(true);
  expect(isForeign(undefined, undefined, "0.0.0.0")).toBe(true);
});
