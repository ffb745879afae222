import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { checkNode } from "./runtime.js";

test("[CLI91] a Node.js that `engines` leaves out is broken", () => {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(engines.node).toBe("^20.19.0 || ^22.14.0 || >=24.0.0");
  for (const version of ["20.19.0", "20.20.2", "22.14.0", "24.0.0", "25.1.0"]) {
    expect(checkNode(version).verdict, version).toBe("ok");
  }
  for (const version of ["18.20.0", "20.18.9", "21.7.0", "22.13.1", "23.11.0"]) {
    expect(checkNode(version).verdict, version).toBe("broken");
  }
});
