import type { FrozenConfig } from "../../prompts/index.js";
import type { PromptMessage, SentRequest, ToolSpec } from "../../providers/index.js";
import type { ThreadRow } from "../../store/index.js";
import { rebuilt, requestFor } from "../context.js";
import type { RunsDeps } from "../deps.js";
import type { SessionKey } from "../session/parts.js";
import { knownSession, withMarker } from "./known-session.js";
import { directoryOf, mayUseOwn } from "./place.js";

interface Said {
  readonly message: PromptMessage;
}

interface ToHandOver {
  readonly key: SessionKey;
  readonly row: Pick<ThreadRow, "program_session">;
  /** The thread's directory. */
  readonly root: string;
  readonly tools: readonly ToolSpec[];
  /** What stands before the history, and what stands for its lost beginning. */
  readonly before: readonly Said[];
  readonly marker: Said | undefined;
  readonly history: { readonly epoch: number; readonly from: number; readonly sent: readonly Said[] };
}

/** What a program would be handed over now, for a look: nothing is started. */
export async function unsentTurn(
  deps: RunsDeps,
  config: FrozenConfig,
  { key, row, root, tools, before, marker, history }: ToHandOver,
): Promise<SentRequest> {
  const agent = deps.agents.in(key.workspace_id).require(config.agent_id);
  const directory = directoryOf(agent, root);
  const known = knownSession(row, { config, directory, before, history });
  const { said, ...going } = withMarker(marker, known);
  const request = requestFor(config, [...before, ...said, ...history.sent], tools, key.thread_id);
  return rebuilt(deps, config, request, { directory, ownTools: mayUseOwn(agent), ...going });
}
