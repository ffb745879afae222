import type { FrozenConfig } from "../../prompts/index.js";
import { isOfSystem, type PromptMessage, type WorkSession } from "../../providers/index.js";
import type { ThreadRow } from "../../store/index.js";

interface Said {
  readonly message: PromptMessage;
}

/** A thread's list of what was told: which one it is, and what is sent of it from where on. */
interface SentHistory {
  readonly epoch: number;
  readonly from: number;
  readonly sent: readonly Said[];
}

/** What is kept of a program's session whose last turn ended well, as JSON text with the thread. */
export interface KeptSession {
  readonly id: string;
  readonly agent_id: string;
  readonly provider: string;
  readonly directory: string;
  /** `sha256` of the instructions that it was given last. */
  readonly instructions: string;
  /** Which list of what was told it knows, and how much of it. One that does not say how much is told all of it anew. */
  readonly epoch: number;
  readonly length?: number;
}

interface GoingOn {
  readonly config: FrozenConfig;
  readonly directory: string;
  /** What stands before the history. */
  readonly before: readonly Said[];
  readonly history: SentHistory;
}

/**
 * The session that a turn can go on with. None when another agent or another directory is meant, or when the history is
 * not the one it knows any more: somebody edited, cleared or replaced it. What the session knows and is not sent any more it
 * still knows: as long as it is the same list, only what came later is new to it.
 */
export function knownSession(
  { program_session }: Pick<ThreadRow, "program_session">,
  { config, directory, before, history }: GoingOn,
): WorkSession | undefined {
  if (!program_session) return undefined;
  const kept = JSON.parse(program_session) as KeptSession;
  const same =
    kept.agent_id === config.agent_id &&
    kept.provider === config.provider &&
    kept.directory === directory &&
    kept.epoch === history.epoch;
  if (!same || kept.length === undefined) return undefined;
  // Examples of a base prompt were told with the session's first message.
  const known = [...before, ...history.sent.slice(0, Math.max(0, kept.length - history.from))];
  const told = known.filter(({ message }) => !isOfSystem(message)).length;
  return { id: kept.id, told, instructions: kept.instructions };
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
