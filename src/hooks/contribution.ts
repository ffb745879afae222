import { z } from "zod";
import type { Visibility } from "./phases.js";

const wellFormed = (text: string) => text.isWellFormed();
const text = z.string().refine(wellFormed, "contains half a character (a lone surrogate)");
const shortText = text.min(1).max(200);

const sourceRefSchema = z.strictObject({
  /** What it refers to, `document` or `file` for example. */
  kind: shortText,
  id: text.min(1).max(2_000),
  version: z.union([z.int(), shortText]).optional(),
});

export const contributionSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("prompt_section"),
    section_id: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/),
    title: shortText,
    content: text,
    /** Text around the content that a cut leaves whole; it counts towards the budget. */
    wrapper: z.strictObject({ open: text, close: text }).optional(),
    source_refs: z.array(sourceRefSchema).max(64).optional(),
  }),
  z.strictObject({
    kind: z.literal("diagnostic"),
    level: z.enum(["info", "warning", "error"]),
    message: text,
  }),
]);

export type Contribution = z.input<typeof contributionSchema>;
export type SourceRef = z.output<typeof sourceRefSchema>;

/** Who contributed. */
interface Origin {
  readonly hook_id: string;
  readonly package_id: string;
  readonly subscription_id: string;
}

/** A section as a prompt takes it, and what its line in a manifest needs. */
export interface PhaseContribution extends Origin {
  /** The same for the same section of the same subscription, run after run. */
  readonly contribution_id: string;
  readonly kind: "prompt_section";
  readonly priority: number;
  readonly visibility: Visibility;
  readonly section: {
    readonly section_id: string;
    readonly title: string;
    /** Wrapped, and cut to the hook's budget. */
    readonly content: string;
    /** What had no room in it. */
    readonly cut?: string;
    readonly source_refs: readonly SourceRef[];
  };
  readonly source_count: number;
  readonly truncation: "none" | "hook";
}

/** Something to be seen by people who look into a run. It may hold a hook's own words, so no prompt takes it. */
export interface PhaseDiagnostic extends Origin {
  readonly visibility: Visibility;
  readonly level: "info" | "warning" | "error";
  readonly message: string;
  /** What a hook contributed has an id; what the runtime found has none. */
  readonly contribution_id?: string;
}
