import { setTimeout as sleep } from "node:timers/promises";
import { type Acting, attempt } from "./act.js";
import type { Known, Ledger } from "./ledger.js";
import { Gone } from "./line.js";
import { NOTE } from "./model.js";
import { sendRun } from "./operations/runs.js";
import { operations } from "./operations.js";
import type { World } from "./world.js";

export type Watch = Pick<Acting, "sent" | "acknowledged" | "trouble">;

/** Every client does one thing after the other until its connection dies, or it is told to stop. */
export function work(world: World, ledger: Ledger, watch: Watch = {}): { stop(): Promise<void> } {
  const going = { on: true };
  const clients = ledger.clients.map((known) => live({ world, ledger, known, watch, going }));
  return {
    async stop() {
      going.on = false;
      await Promise.all(clients);
    },
  };
}

interface Life {
  readonly world: World;
  readonly ledger: Ledger;
  readonly known: Known;
  readonly watch: Watch;
  readonly going: { on: boolean };
}

async function live({ world, ledger, known, watch, going }: Life): Promise<void> {
  try {
    const acting = { workspace_id: world.workspace_id, ledger, known, line: await world.line(), ...watch };
    await sendRun(acting);
    while (going.on) {
      await known.chance.weighed(operations)(acting);
      await sleep(known.chance.yes(0.5) ? 0 : known.chance.between(0, 50));
    }
    acting.line.close();
  } catch (error) {
    if (!(error instanceof Gone)) ledger.problems.push(String((error as Error).stack));
  }
}

/** What is there before anything can go wrong. */
export async function prepare(world: World, ledger: Ledger): Promise<void> {
  await world.start();
  const acting = {
    workspace_id: world.workspace_id,
    ledger,
    known: ledger.clients[0] as Known,
    line: await world.line(),
  };
  const given = { name: "notes_create", arguments: { title: NOTE, content: "" } };
  await attempt(acting, "tool/call", { workspace_id: world.workspace_id, ...given });
  acting.line.close();
}
