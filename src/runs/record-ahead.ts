import type { Message } from "../atsf/index.js";
import type { Unit } from "../store/index.js";
import { type RecordedFiles, recordMessages, type WithIt } from "../threads/index.js";
import type { RunsDeps } from "./deps.js";
import type { ThreadSession } from "./session/session.js";

interface ToRecord {
  readonly messages: readonly Message[];
  /** What is committed with them, and how it is taken for what is. */
  readonly withIt: (files: RecordedFiles) => Promise<{ unit: () => Unit<WithIt>; adopt: () => void }>;
}

/**
 * Writes messages to the log and commits what belongs to them. Resolves when it is committed; `session.durable` then
 * resolves when it is on disk, and until then nothing that follows from it is done or told.
 */
export function recordAhead(
  deps: RunsDeps,
  session: ThreadSession,
  { messages, withIt }: ToRecord,
): Promise<void> {
  const { perhapsWritten: perhapsThere, durable: after } = session;
  session.perhapsWritten = true;
  let adopt = () => {};
  return new Promise((resolve, reject) => {
    const durable: Promise<unknown> = recordMessages(deps, session.key, {
      messages,
      perhapsThere,
      after,
      withIt: async (files) => {
        const committing = await withIt(files);
        adopt = committing.adopt;
        return committing.unit;
      },
      written: () => {
        session.perhapsWritten = perhapsThere;
        session.durable = durable;
        adopt();
        resolve();
      },
    });
    durable.catch(reject);
  });
}
