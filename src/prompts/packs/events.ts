import { z } from "zod";

const ref = z.string().regex(/^sha256:[0-9a-f]{64}$/);

const snapshot = z.object({
  workspace: z.string(),
  version: z.string().optional(),
  root_hash: ref,
  index_ref: ref.optional(),
  prompt_pack: z.string(),
  prompt_pack_ref: ref,
  taken_at: z.int(),
});

const waitedRun = z.object({ run_id: z.string(), workspace_id: z.string(), thread_id: z.string() });

const ofPack = { at: z.int(), pack: z.string() };
const answer = { ...ofPack, intent_id: z.string() };

/** Everything that can happen to the prompt packs of a workspace. `at` is unix milliseconds. */
export const packEvent = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("prompt.sync_requested"),
    ...ofPack,
    /** As it was asked for. */
    version: z.string().optional(),
    /** The thread that will be bound to it. */
    thread_id: z.string().optional(),
  }),
  z.object({ type: z.literal("prompt.synced"), ...answer, snapshot }),
  z.object({ type: z.literal("prompt.unchanged"), ...answer, root_hash: ref }),
  z.object({
    type: z.literal("prompt.sync_failed"),
    ...answer,
    stage: z.enum(["index", "resolve", "read", "parse", "validate", "store"]),
    reason: z.string(),
  }),
  z.object({
    type: z.literal("prompt.apply_requested"),
    ...ofPack,
    mode: z.enum(["next_run", "when_idle"]),
    /** The runs that were under way when it was asked for. */
    waits_for: z.array(waitedRun),
  }),
  z.object({ type: z.literal("prompt.applied"), ...ofPack, root_hash: ref }),
]);

export type PackEvent = z.output<typeof packEvent>;
export type WaitedRun = z.output<typeof waitedRun>;
