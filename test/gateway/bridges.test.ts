import { expect, test } from "vitest";
import { AgentCommands } from "../../src/app/thread-access.js";
import { Withheld } from "../../src/app/withheld.js";
import type { Gateway } from "../../src/gateway/index.js";
import { ThreadAccess } from "../../src/gateway/thread-access.js";

/** The bridges over what a gateway has of them: the tokens of threads. */
function bridges() {
  const access = new ThreadAccess(() => {});
  const commands = new AgentCommands({
    dataDir: "/none",
    env: {},
    withheld: new Withheld(undefined),
    mayListen: true,
  });
  commands.over({ access } as Gateway);
  commands.listening("http://127.0.0.1:1");
  const open = async (thread_id: string, agent_id = "a") => {
    const opened = await commands.bridges.open({ workspace_id: "w", thread_id }, agent_id);
    const token = opened?.bridge.token ?? "";
    return { token, close: () => opened?.close(), isOpen: () => access.boundBy(token) !== undefined };
  };
  return { open };
}

test("[PRG34] a bridge that is open stays so, however many others are opened meanwhile", async () => {
  const { open } = bridges();
  const long = await open("long");
  for (let at = 0; at < 500; at += 1) (await open(`other-${at}`)).close();
  expect(long.isOpen()).toBe(true);
  long.close();
  const again = await open("long");
  expect([again.token === long.token, again.isOpen()]).toEqual([true, true]);
  again.close();
  for (let at = 0; at < 500; at += 1) (await open(`more-${at}`)).close();
  expect((await open("long")).token).not.toBe(long.token);
});

test("[PRG32] what another agent of the thread was given lets nobody in while this one works", async () => {
  const { open } = bridges();
  const before = await open("one", "before");
  before.close();
  const now = await open("one", "now");
  expect([before.isOpen(), now.isOpen(), now.token === before.token]).toEqual([false, true, false]);
});
