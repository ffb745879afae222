import type { z } from "zod";
import { plainWords } from "../base/index.js";
import { fitted } from "./budget.js";
import { contributionSchema, type PhaseContribution, type PhaseDiagnostic } from "./contribution.js";
import { bounded, CallFailure, problemsOf } from "./errors.js";
import type { AcceptedSubscription } from "./package.js";
import { contributionKinds, kindsTaken } from "./phases.js";

const MOST_CONTRIBUTIONS = 64;

export interface Accepted {
  readonly contributions: PhaseContribution[];
  readonly diagnostics: PhaseDiagnostic[];
}

/** Checks what a hook answered, whole: an answer that is wrong in part contributes nothing. */
export function acceptAnswer(answer: unknown, subscription: AcceptedSubscription): Accepted {
  const accepted: Accepted = { contributions: [], diagnostics: [] };
  const given = listOf(answer);
  for (const [index, one] of given.entries()) {
    checkKind(one, subscription);
    const parsed = contributionSchema.safeParse(one, { error: plainWords });
    if (!parsed.success) {
      throw new CallFailure("invalid_answer", `contribution ${index + 1}: ${problemsOf(parsed.error)}`);
    }
    if (parsed.data.kind === "prompt_section") {
      accepted.contributions.push(sectionOf(parsed.data, subscription));
    } else {
      accepted.diagnostics.push({
        ...originOf(subscription),
        contribution_id: `${subscription.subscription_id}#diagnostic/${accepted.diagnostics.length + 1}`,
        level: parsed.data.level,
        message: bounded(parsed.data.message),
      });
    }
  }
  refuseTwice(accepted.contributions);
  return accepted;
}

export function originOf(subscription: AcceptedSubscription) {
  const { hook_id, package_id, subscription_id, visibility } = subscription;
  return { hook_id, package_id, subscription_id, visibility };
}

function listOf(answer: unknown): readonly unknown[] {
  if (answer === undefined || answer === null) return [];
  const list = (answer as { contributions?: unknown }).contributions;
  if (!Array.isArray(list)) {
    throw new CallFailure("invalid_answer", 'the answer is not of the form {"contributions": […]}');
  }
  // Before anything in it is looked at: a list of millions would take its time.
  if (list.length > MOST_CONTRIBUTIONS) {
    throw new CallFailure(
      "too_large",
      `${list.length} contributions; at most ${MOST_CONTRIBUTIONS} are taken`,
    );
  }
  return list;
}

function checkKind(one: unknown, { contributes, phase, execution }: AcceptedSubscription): void {
  const given = (one as { kind?: unknown } | null | undefined)?.kind;
  if (typeof given !== "string") throw new CallFailure("invalid_answer", "a contribution has no kind");
  const kind = contributionKinds.find((name) => name === given);
  if (kind === undefined || !contributes.includes(kind)) {
    throw new CallFailure("undeclared_kind", `the package does not declare the kind ${bounded(given, 100)}`);
  }
  if (!kindsTaken(phase, execution).includes(kind)) {
    throw new CallFailure("kind_not_taken", `${phase} takes no ${kind} from a ${execution} hook`);
  }
}

type GivenSection = Extract<z.output<typeof contributionSchema>, { kind: "prompt_section" }>;

function sectionOf(given: GivenSection, subscription: AcceptedSubscription): PhaseContribution {
  const { content, truncation, cut } = fitted(given.content, subscription.budget, given.wrapper);
  const source_refs = given.source_refs ?? [];
  return {
    ...originOf(subscription),
    contribution_id: `${subscription.subscription_id}#prompt_section/${given.section_id}`,
    kind: "prompt_section",
    priority: subscription.priority,
    section: { section_id: given.section_id, title: given.title, content, source_refs, ...(cut && { cut }) },
    source_count: source_refs.length,
    truncation,
  };
}

/** Their ids are made of the section's: two of one name could not be told apart in a manifest. */
function refuseTwice(contributions: readonly PhaseContribution[]): void {
  const seen = new Set<string>();
  for (const { section } of contributions) {
    if (seen.has(section.section_id)) {
      throw new CallFailure("invalid_answer", `the section ${section.section_id} is contributed twice`);
    }
    seen.add(section.section_id);
  }
}
