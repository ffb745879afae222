import type { FrozenConfig } from "../../prompts/index.js";
import type { WorkSession } from "../../providers/index.js";
import type { ThreadRow } from "../../store/index.js";
import type { SessionHistory } from "../session/history.js";

/** What is kept of a program's session whose last turn ended well, as JSON text with the thread. */
export interface KeptSession {
  readonly id: string;
  readonly agent_id: string;
  readonly provider: string;
  readonly directory: string;
  /** `sha256` of the instructions that it was given last. */
  readonly instructions: string;
  /** Which list of what was told it knows, and up to which messages. */
  readonly epoch: number;
  readonly user_message_id: string;
  readonly agent_message_id: string;
}

/**
 * The session that a turn can go on with. None when another agent or another directory is meant, or when the history is
 * not the one it knows any more: somebody edited, cleared or replaced it.
 */
export function knownSession(
  { program_session }: Pick<ThreadRow, "program_session">,
  { config, directory, history }: { config: FrozenConfig; directory: string; history: SessionHistory },
): WorkSession | undefined {
  if (!program_session) return undefined;
  const kept = JSON.parse(program_session) as KeptSession;
  const same =
    kept.agent_id === config.agent_id &&
    kept.provider === config.provider &&
    kept.directory === directory &&
    kept.epoch === history.epoch;
  if (!same) return undefined;
  const sent = history.sent();
  const last = sent.findLastIndex(
    ({ message_id }) => message_id === kept.agent_message_id || message_id === kept.user_message_id,
  );
  return last === -1 ? undefined : { id: kept.id, told: last + 1, instructions: kept.instructions };
}
