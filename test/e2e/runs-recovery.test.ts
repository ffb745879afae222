import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { endOf, MortalGateway } from "../support/mortal-gateway.js";
import { type RunScene, verifyAll } from "../support/runs.js";
import { soon } from "../support/threads.js";

let gateway: MortalGateway;
afterEach(() => gateway.remove());

test("[RCV3] x", async () => {
  const t0 = performance.now();
  gateway = await MortalGateway.make();
  const scene = await gateway.start();
  console.log(performance.now() - t0);
  const t1 = performance.now();
  await gateway.restart();
  console.log(performance.now() - t1);
});
