import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { runs } from "../../test/atsf/processes.js";
import { endGroup, groupLives, HAS_GROUPS } from "./process-group.js";

test.runIf(HAS_GROUPS)("[BAS50] a group is ended whole, also one that does not listen", async () => {
  const child = spawn("sh", ["-c", "trap '' TERM; sleep 1000 & echo $$ $!; wait; sleep 1000"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const pid = child.pid as number;
  const [written] = await once(child.stdout, "data");
  const pids = String(written).trim().split(" ").map(Number);
  expect({ pids: pids.map(runs), group: groupLives(pid) }).toEqual({ pids: [true, true], group: true });
  await endGroup(pid, 50);
  expect(pids.map(runs)).toEqual([false, false]);
  await endGroup(pid, 50);
});
