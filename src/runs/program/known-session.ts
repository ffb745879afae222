import type { FrozenConfig } from "../../prompts/index.js";
import type { PromptMessage, WorkSession } from "../../providers/index.js";
import type { ThreadRow } from "../../store/index.js";

/** What is sent of a thread's list of what was told, and which list it is. */
interface SentHistory {
  readonly epoch: number;
  sent(): readonly { readonly message_id?: string | undefined }[];
}

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
 * not the one it knows any more: somebody edited, cleared or replaced it. What the session knows and is not sent any more it
 * still knows: as long as it is the same list, only what came later is new to it.
 */
export function knownSession(
  { program_session }: Pick<ThreadRow, "program_session">,
  { config, directory, history }: { config: FrozenConfig; directory: string; history: SentHistory },
): WorkSession | undefined {
  if (!program_session) return undefined;
  const kept = JSON.parse(program_session) as KeptSession;
  const same =
    kept.agent_id === config.agent_id &&
    kept.provider === config.provider &&
    kept.directory === directory &&
    kept.epoch === history.epoch;
  if (!same) return undefined;
  const last = history
    .sent()
    .findLastIndex(
      ({ message_id }) => message_id === kept.agent_message_id || message_id === kept.user_message_id,
    );
  return { id: kept.id, told: last + 1, instructions: kept.instructions };
}

/**
 * What stands for the lost beginning of a history, as a part of what was said: among the instructions it would change them
 * each time that more is left out. A session that goes on has no need of it.
 */
export function withMarker<P extends { readonly message: PromptMessage }>(
  marker: P | undefined,
  known: WorkSession | undefined,
): { readonly said: readonly P[]; readonly session?: WorkSession } {
  if (!marker) return { said: [], ...(known && { session: known }) };
  const said = [{ ...marker, message: { ...marker.message, role: "user" as const } }];
  return { said, ...(known && { session: { ...known, told: known.told + 1 } }) };
}
