import type { z } from "zod";
import { threadId, workspaceId } from "./ids.js";
import { optionalParam } from "./text.js";

export interface Method<P extends z.ZodType, R extends z.ZodType> {
  readonly params: P;
  readonly result: R;
  readonly summary: string;
}

export function method<P extends z.ZodType, R extends z.ZodType>(
  summary: string,
  params: P,
  result: R,
): Method<P, R> {
  return { params, result, summary };
}

export const inWorkspace = { workspace_id: workspaceId };
export const someWorkspace = optionalParam(workspaceId).describe(
  "needed only when the id exists in two workspaces",
);
export const ofThread = { workspace_id: someWorkspace, thread_id: threadId };
