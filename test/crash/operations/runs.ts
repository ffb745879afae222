import { type Acting, attempt } from "../act.js";
import type { KnownThread, Said } from "../ledger.js";
import type { Plan } from "../model.js";
import { oneOf, word } from "./choose.js";
import { makeThread } from "./threads.js";

/** The thread that a client delegates from, or is asked in; made where it has none. */
async function ownThread(acting: Acting, agent: string, desk: boolean): Promise<KnownThread | undefined> {
  const isIt = (thread: KnownThread) => thread.agent === agent && thread.desk === desk;
  const found = oneOf(acting, isIt);
  if (found) return found;
  await makeThread(acting, { agent, desk });
  return oneOf(acting, isIt);
}

const PLANS: readonly (readonly [Plan, number])[] = [
  ["plain", 6],
  ["slow", 3],
  ["hang", 1],
  ["bash", 4],
  ["two", 2],
  ["long", 1],
  ["note", 3],
];
const DESK_PLANS: readonly (readonly [Plan, number])[] = [
  ["sync", 2],
  ["async", 2],
  ["late", 1],
  ["both", 1],
  ["plain", 1],
];

export async function say(acting: Acting): Promise<boolean> {
  const thread = await ownThread(acting, "doer", false);
  return thread !== undefined && ask(acting, thread, acting.known.chance.weighed(PLANS));
}

export async function delegate(acting: Acting): Promise<boolean> {
  const thread = await ownThread(acting, "doer", true);
  return thread !== undefined && ask(acting, thread, acting.known.chance.weighed(DESK_PLANS));
}

export async function askFirst(acting: Acting): Promise<boolean> {
  const thread = await ownThread(acting, "asker", false);
  return thread !== undefined && ask(acting, thread, acting.known.chance.yes(0.8) ? "bash" : "plain");
}

async function ask(acting: Acting, thread: KnownThread, plan: Plan): Promise<boolean> {
  const said: Said = { text: `${word(acting)} ${plan}`, how: "run", maybe: true };
  thread.log.push(said);
  acting.known.unanswered = { thread, said };
  await sendRun(acting);
  return true;
}

/** Sends what was not acknowledged yet, with the key it was sent with. */
export async function sendRun(acting: Acting): Promise<void> {
  const { known, workspace_id } = acting;
  if (!known.unanswered) return;
  const { thread, said } = known.unanswered;
  const key = { idempotency_key: said.text };
  const params = { workspace_id, thread_id: thread.id, content: said.text, ...key };
  await attempt(acting, "run/start", params, {
    known({ run, message }) {
      said.id = message.id;
      said.run = run.id;
      said.maybe = false;
    },
  });
  known.unanswered = undefined;
}

/** An acknowledged message that is sent again is the same run. */
export async function sendAgain(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, ({ log }) => log.some(({ run }) => run !== undefined));
  const said = acting.known.chance.pick(thread?.log.filter(({ run }) => run !== undefined) ?? []);
  if (!thread || !said) return false;
  const { workspace_id, ledger } = acting;
  const params = { workspace_id, thread_id: thread.id, content: said.text, idempotency_key: said.text };
  await attempt(acting, "run/start", params, {
    isRepeated: true,
    known({ run, message }) {
      if (run.id === said.run && message.id === said.id) return;
      ledger.problems.push(
        `doubled: "${said.text}" was acknowledged as run ${said.run}, and when sent again as ${run.id}`,
      );
    },
  });
  return true;
}

export async function append(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, ({ desk }) => !desk);
  if (!thread) return false;
  const text = `${word(acting)} elsewhere`;
  const said: Said = { text, how: "append", id: `id-${text.replace(" ", "-")}`, maybe: true };
  thread.log.push(said);
  const { workspace_id } = acting;
  const message = { id: said.id as string, role: "user" as const, content: text };
  const certain = () => {
    said.maybe = false;
  };
  await attempt(
    acting,
    "message/append",
    { workspace_id, thread_id: thread.id, message },
    {
      known: certain,
      doubt: async (state) => {
        if ((await state.texts(thread.id)).includes(text)) certain();
      },
    },
  );
  return true;
}

/** The latest run of some thread, which may be under way. */
function latest(acting: Acting): { thread: KnownThread; said: Said } | undefined {
  const thread = oneOf(acting, ({ desk, log }) => !desk && log.some(({ run }) => run));
  const said = thread?.log.findLast(({ run }) => run);
  return thread && said && { thread, said };
}

export async function steer(acting: Acting): Promise<boolean> {
  const found = latest(acting);
  if (!found) return false;
  const text = `${word(acting)} mind`;
  const said: Said = { text, how: "steer", steers: found.said.run as string, maybe: true };
  await attempt(
    acting,
    "run/steer",
    { run_id: found.said.run as string, content: text },
    {
      known({ message }) {
        found.thread.log.push({ ...said, id: message.id, maybe: false });
      },
      doubt: () => void found.thread.log.push(said),
      may: /^run\./,
    },
  );
  return true;
}

export async function cancel(acting: Acting): Promise<boolean> {
  const found = latest(acting);
  if (!found) return false;
  found.said.maybe = true;
  await attempt(acting, "run/cancel", { run_id: found.said.run as string });
  return true;
}

export async function answerApproval(acting: Acting): Promise<boolean> {
  const thread = oneOf(acting, ({ agent, log }) => agent === "asker" && log.some(({ run }) => run));
  if (!thread) return false;
  const { workspace_id, known } = acting;
  const status = ["waiting" as const];
  const waiting = await attempt(acting, "run/list", { workspace_id, thread_id: thread.id, status });
  const asked = waiting?.data[0]?.approvals?.[0];
  if (!asked) return false;
  const decision = known.chance.yes(0.75) ? "allow" : "deny";
  const params = { run_id: asked.run_id, tool_call_id: asked.tool_call_id, decision } as const;
  await attempt(acting, "run/approve", params, { may: /^run\./ });
  return true;
}
