import { existsSync, readFileSync } from "node:fs";
import type { Message, Run } from "../../src/protocol/index.js";
import type { Ledger } from "./ledger.js";
import { NOTE } from "./model.js";
import { type State, textOf } from "./state.js";
import type { World } from "./world.js";

/** What tools did outside, and what agents asked of each other. */
export async function checkWork(world: World, ledger: Ledger, state: State): Promise<string[]> {
  const messages = (await Promise.all([...state.threads.keys()].map((id) => state.messages(id)))).flat();
  const calls = messages.flatMap(({ toolCalls }) => (toolCalls ?? []) as unknown as Call[]);
  return [
    ...checkCommands(world, calls),
    ...(await checkNote(ledger, state, calls)),
    ...(await checkDelegations(ledger, state)),
    ...(await checkReplay(ledger, state)),
  ];
}

interface Call {
  readonly id?: string;
  readonly name: string;
  readonly status: string;
  readonly input?: unknown;
  readonly output?: unknown;
}

/** A command must not be repeated: it began once at most, and once exactly where its call says that it was made. */
function checkCommands(world: World, calls: readonly Call[]): string[] {
  const file = world.path(world.trace);
  const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const doubled = [...counts]
    .filter(([, count]) => count > 1)
    .map(([line]) => `doubled: the command "${line}" ran twice`);
  const lost = calls
    .filter(({ name, status }) => name === "bash" && status === "completed")
    .map((call) => /begin (\S+)/.exec(JSON.stringify(call.input ?? call))?.[1])
    .filter((name) => name !== undefined && !counts.has(`end ${name}`))
    .map((name) => `lost: the command ${name} is told as done and never ended`);
  return [...doubled, ...lost];
}

async function checkNote(ledger: Ledger, state: State, calls: readonly Call[]): Promise<string[]> {
  const counts = new Map<string, number>();
  for (const line of (await readNote(state)).split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1);
  const doubled = [...counts]
    .filter(([line, count]) => line !== "" && count > 1)
    .map(([line]) => `doubled: "${line}" stands twice in the note`);
  const byModels = calls
    .filter(({ name, status }) => name === "notes_append" && status === "completed")
    .flatMap((call) => /"text\W+"?(c\d+\.\d+)/.exec(JSON.stringify(call.input ?? call))?.[1] ?? []);
  const acknowledged = [...ledger.noted].filter(([, known]) => known).map(([line]) => line);
  const lost = [...byModels, ...acknowledged]
    .filter((line) => !counts.has(line))
    .map((line) => `lost: "${line}" was written to the note, and is not there`);
  return [...doubled, ...lost];
}

async function readNote({ line, workspace_id }: State): Promise<string> {
  let text = "";
  let from_char: number | undefined = 0;
  while (from_char !== undefined) {
    const given = { note: NOTE, from_char };
    const { output } = await line.call("tool/call", { workspace_id, name: "notes_read", arguments: given });
    const part = JSON.parse(output) as { content: string; next_from_char?: number };
    text += part.content;
    from_char = part.next_from_char;
  }
  return text;
}

const UNTOLD = /^(timeout|started)$/;
const HEARD = /^(complete|interrupted|failed|cancelled|timeout, returned|started, returned)$/;

/** Every delegated run was asked for once, and heard of once: by its call, or as a result that came back. */
async function checkDelegations(ledger: Ledger, state: State): Promise<string[]> {
  const runs = await state.runs();
  const hasFailed = (id = "") => runs.get(id)?.status === "failed";
  const unwritten = new Set(
    [...runs.values()]
      .filter(({ origin, status }) => ledger.mayFail && origin?.kind === "returned" && status === "failed")
      .map(({ origin }) => origin?.run_id),
  );
  const children = [...runs.values()]
    .filter(({ origin }) => origin?.kind === "delegated")
    // What a run was told that could not be written has nowhere to stand.
    .filter(({ origin }) => !hasFailed(origin?.run_id))
    // The run that was to tell of it says why it could not.
    .filter(({ id }) => !unwritten.has(id));
  const targets = [...new Set(children.map(({ thread_id }) => thread_id))].filter((id) =>
    state.threads.has(id),
  );
  const asked = (await Promise.all(targets.map((id) => state.messages(id))))
    .flat()
    .filter(({ role }) => role === "user")
    .map(textOf);
  const twice = asked.filter((text, at) => asked.indexOf(text) !== at);
  const desks = ledger.threads().filter(({ desk, id }) => desk && state.threads.has(id));
  const told = (await Promise.all(desks.map(({ id }) => state.messages(id)))).flat();
  const wrong = children
    .filter(({ origin }) => desks.some(({ id }) => id === origin?.thread_id))
    .map((child) => ({ child, id: child.id, heard: heardOf(child.id, told) }))
    .filter(({ heard }) => !HEARD.test(heard))
    // What came back into a run that was under way went down with it, where its thread could not be written.
    .filter(({ child, heard }) => !(ledger.mayFail && UNTOLD.test(heard) && failedAfter(child, runs)));
  return [
    ...twice.map((text) => `doubled: "${text}" was delegated twice`),
    ...wrong.map(({ id, heard }) => {
      const kind = heard.split(", ").length > 1 ? "doubled" : "lost";
      return `${kind}: the result of the delegated run ${id} was told as "${heard}"`;
    }),
  ];
}

/** A run of the asking thread that failed, and was asked for after the one that asked. */
function failedAfter({ origin }: Run, runs: ReadonlyMap<string, Run>): boolean {
  const asking = runs.get(origin?.run_id ?? "")?.number ?? 0;
  return [...runs.values()].some(
    ({ thread_id, status, number }) =>
      thread_id === origin?.thread_id && status === "failed" && number > asking,
  );
}

function heardOf(run_id: string, told: readonly Message[]): string {
  const called = told
    .flatMap(({ toolCalls }) => (toolCalls ?? []) as unknown as Call[])
    .map(({ output }) => outcomeOf(output))
    .filter(({ responseId }) => responseId === run_id)
    .map(({ status }) => status);
  const back = told.filter((message) => /^responseId: (\S+)$/m.exec(textOf(message))?.[1] === run_id);
  return [...called, ...back.map(() => "returned")].join(", ");
}

function outcomeOf(output: unknown): { status?: string; responseId?: string } {
  try {
    return JSON.parse(String(output)) ?? {};
  } catch {
    return {};
  }
}

async function checkReplay(ledger: Ledger, state: State): Promise<string[]> {
  const problems: string[] = [];
  for (const { id, thread_id } of (await state.runs()).values()) {
    if (ledger.proven.has(id) || !state.threads.has(thread_id)) continue;
    const { verified, first_difference } = await state.line.call("run/replay", { run_id: id });
    if (verified) ledger.proven.add(id);
    else problems.push(`lost: run ${id} is not verified by replay: ${JSON.stringify(first_difference)}`);
  }
  return problems;
}
