import type { PromptSnapshot } from "../../../protocol/index.js";
import { formatTime, visible } from "../../output.js";
import type { Session } from "../../session.js";
import { shortRef } from "../explain/source-text.js";
import { type Place, placeOf } from "../run/of-run.js";

export interface PackTarget {
  readonly thread?: string;
}

/** The workspace whose packs are meant: a thread's own where one is named. */
export async function packPlace(session: Session, { thread }: PackTarget): Promise<Place> {
  return thread === undefined ? { workspace_id: (await session.workspace()).id } : placeOf(session, thread);
}

/** A pack as it was read: when, where, and what it was, by the same hash that `explain` shows. */
export function snapshotText({ version, prompt_pack_ref, taken_at }: PromptSnapshot): string {
  const from = version === undefined ? "working tree" : `commit ${visible(version.slice(0, 12))}`;
  return `${from}, read ${formatTime(taken_at)}  ${shortRef(prompt_pack_ref)}`;
}
