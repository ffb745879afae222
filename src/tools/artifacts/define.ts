import type { z } from "zod";
import { type Clock, type MakeId, unixSeconds } from "../../base/index.js";
import { artifacts, type Store, type Unit } from "../../store/index.js";
import { failed } from "../outcome.js";
import { defineTool, type ToolContext, type ToolDefinition, type ToolOutcome } from "../tool.js";
import { Refusal } from "./refusal.js";

export interface ArtifactsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: MakeId;
}

/** Who calls, and when. */
export interface Act {
  readonly workspace_id: string;
  readonly now: number;
  readonly makeId: MakeId;
}

/** What a tool answers: JSON, and where a text was written over, what it was before. */
export interface Answer {
  readonly value: object;
  readonly truncated?: boolean;
  readonly diff?: ToolOutcome["diff"];
}

interface Given<P extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly parameters: P;
  /** Everything it does, or nothing of it. */
  work(args: z.output<P>, act: Act): Unit<Answer>;
}

/** A tool that changes nothing. */
export function readingTool<P extends z.ZodObject>(
  deps: ArtifactsDeps,
  capability: string,
  { work, ...given }: Given<P>,
): ToolDefinition {
  return defineTool({
    ...given,
    capabilities: [capability],
    safeToRepeat: true,
    run: (args, context) => told(() => deps.store.read(() => work(args, actOf(deps, context)))),
  });
}

/** A tool that changes something. The same call made again changes nothing and is answered as it was. */
export function writingTool<P extends z.ZodObject>(
  deps: ArtifactsDeps,
  capability: string,
  { work, ...given }: Given<P>,
): ToolDefinition {
  return defineTool({
    ...given,
    capabilities: [capability],
    safeToRepeat: true,
    run: (args, context) => {
      const act = actOf(deps, context);
      const once = () => unlessMade(context.call_key, act, () => work(args, act));
      return told(() => deps.store.write({ key: act.workspace_id }, once));
    },
  });
}

function actOf({ clock, makeId }: ArtifactsDeps, { workspace_id }: ToolContext): Act {
  return { workspace_id, now: unixSeconds(clock), makeId };
}

function* unlessMade(call_key: string | undefined, act: Act, work: () => Unit<Answer>): Unit<Answer> {
  if (call_key === undefined) return yield* work();
  const { workspace_id, now: made_at } = act;
  const made = yield* artifacts.findCall(workspace_id, call_key);
  if (made !== undefined) return { value: JSON.parse(made) };
  const answer = yield* work();
  yield* artifacts.insertCall({ workspace_id, call_key, answer: JSON.stringify(answer.value), made_at });
  return answer;
}

async function told(answering: () => Promise<Answer>): Promise<ToolOutcome> {
  try {
    const { value, truncated, diff } = await answering();
    return {
      status: "completed",
      output: JSON.stringify(value),
      ...(truncated && { truncated }),
      ...(diff && { diff }),
    };
  } catch (error) {
    if (error instanceof Refusal) return failed(error.message);
    throw error;
  }
}
