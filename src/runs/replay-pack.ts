import { firstBreak, parseEvent, readEvents, readHead } from "../journal/index.js";
import { type FrozenConfig, foldPacks } from "../prompts/index.js";
import type { ReplayResult } from "../protocol/index.js";
import type { Unit } from "../store/index.js";

type Difference = NonNullable<ReplayResult["first_difference"]>;

/** A run whose base prompt came from a pack: the workspace's journal is whole and made exactly that snapshot the active one. */
export function* packDifference({ prompt }: FrozenConfig): Unit<Difference | undefined> {
  const { pack } = prompt;
  if (!pack) return undefined;
  const key = { workspace_id: pack.workspace, thread_id: "" };
  const written = yield* readEvents(key, 1, (yield* readHead(key)).seq);
  const broken = firstBreak(written, { seq: 0, hash: "" });
  if (broken) return difference("integrity", broken.seq, broken.message);
  const events = written.map(parseEvent);
  const { problem } = foldPacks(key.workspace_id, events);
  if (problem) return difference("fold", problem.seq, problem.message);
  const applied = events.some(
    (event) =>
      event.type === "prompt.applied" &&
      event.pack === pack.prompt_pack &&
      event.root_hash === pack.root_hash,
  );
  if (applied) return undefined;
  const message = `The journal of the workspace does not say that the snapshot ${pack.root_hash} of the pack ${pack.prompt_pack} was applied.`;
  return { check: "fold", where: `pack ${pack.prompt_pack}`, message };
}

function difference(check: "integrity" | "fold", seq: number, problem: string): Difference {
  return {
    check,
    where: `event ${seq} of the workspace`,
    message: `Event ${seq} of the workspace's journal: ${problem}.`,
  };
}
