import { resolve } from "node:path";
import { type AgentDefinition, approvalFor, hasLimits } from "../../agents/index.js";
import type { AskedPermission, PermissionAnswer, PromptMessage, WorkPlace } from "../../providers/index.js";
import { locateAhead } from "../../threads/index.js";
import type { RunsDeps } from "../deps.js";
import type { SessionHistory } from "../session/history.js";
import type { PreparedRun, SessionKey } from "../session/parts.js";
import type { ThreadSession } from "../session/session.js";
import { askSomebody } from "./ask-somebody.js";
import { knownSession, withMarker } from "./known-session.js";
import type { WorkAnswer } from "./work-answer.js";

/** Where a program works for one run. */
export interface OpenPlace {
  readonly work: WorkPlace;
  /** All that was said, as far as it is sent. */
  readonly said: readonly { readonly message: PromptMessage }[];
  /** `sha256` of the instructions that it was handed over. */
  instructions: string;
  /** Nothing of the run can be reached from outside any more. */
  close(): void;
}

/** Processes are kept under it. */
export function placeKey({ workspace_id, thread_id }: SessionKey): string {
  return `${workspace_id}/${thread_id}`;
}

export async function openPlace(
  deps: RunsDeps,
  session: ThreadSession,
  { prepared, answer }: { prepared: PreparedRun; answer: WorkAnswer },
): Promise<OpenPlace> {
  const { key, stop } = session;
  const { config } = prepared;
  const agent = deps.agents.in(key.workspace_id).require(config.agent_id);
  const { row, root } = await locateAhead(deps, key);
  const directory = directoryOf(agent, root);
  const list = session.history as SessionHistory;
  const sent = list.sent();
  const history = { epoch: list.epoch, from: list.from, sent };
  const known = knownSession(row, { config, directory, before: prepared.placed, history });
  const { said, ...going } = withMarker(session.marker, known);
  const bridge = prepared.tools.length > 0 ? await deps.bridges.open(key, agent.agentId) : undefined;
  const ownTools = mayUseOwn(agent);
  let unnamed = 0;
  const ask = async ({ id, name, arguments: given, signal }: AskedPermission): Promise<PermissionAnswer> => {
    // Of a tool that should not be there at all nobody is asked.
    if (!ownTools) return "deny";
    const approval = approvalFor(agent, { name, asks: true });
    if (approval !== "ask") return approval;
    unnamed += 1;
    const call_id = answer.idOf(id ?? `asked_${unnamed}`);
    const wanted = signal ? AbortSignal.any([stop.signal, signal]) : stop.signal;
    return askSomebody(deps, session, { call_id, name, arguments: given, own: true }, wanted);
  };
  const work: WorkPlace = {
    key: placeKey(key),
    directory,
    ownTools,
    ask,
    isAwaited: () => session.atBridge > 0,
    ...going,
    ...(bridge && { bridge: bridge.bridge }),
  };
  return { work, said: [...said, ...sent], instructions: "", close: () => bridge?.close() };
}

/** Whether a program's own tools stay switched on: what lists allow, they would go round. */
export function mayUseOwn(agent: AgentDefinition): boolean {
  return agent.ownTools || !hasLimits(agent);
}

/** The thread's worktree or the workspace's directory, unless the agent is to work elsewhere, seen from there. */
export function directoryOf({ chat }: Pick<AgentDefinition, "chat">, root: string): string {
  const { cwd } = chat.config.open();
  return typeof cwd === "string" ? resolve(root, cwd) : root;
}
