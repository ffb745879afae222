import { threads, type Unit } from "../store/index.js";
import type { RunsDeps } from "./deps.js";
import type { AskedCall } from "./fold/events.js";
import type { SessionKey } from "./session/parts.js";

/** The tools that a thread's agent may call without asking, since somebody said always. */
export async function grantedTools(
  deps: Pick<RunsDeps, "store">,
  key: SessionKey,
): Promise<readonly string[]> {
  return deps.store.read(() => readGrants(key));
}

function* readGrants({ workspace_id, thread_id }: SessionKey): Unit<readonly string[]> {
  const [row] = yield* threads.findPlacedThreads(workspace_id, [thread_id]);
  return row?.granted_tools ? JSON.parse(row.granted_tools) : [];
}

/** How much of a call's arguments stands in lists; whoever is asked reads all of it with `run/get`. */
const PREVIEW_CHARS = 2_000;

/** What lists show of a call that somebody is asked about. */
export function askedWith(
  given: string,
): Required<Pick<AskedCall, "approval" | "preview">> & Pick<AskedCall, "chars"> {
  return {
    approval: "ask",
    preview: given.slice(0, PREVIEW_CHARS).toWellFormed(),
    ...(given.length > PREVIEW_CHARS && { chars: given.length }),
  };
}

/** From now on nobody is asked about this tool in this thread, and in no other. */
export function* grantTool(key: SessionKey, name: string): Unit<void> {
  const granted = [...new Set([...(yield* readGrants(key)), name])].sort();
  yield* threads.updateThread(key.workspace_id, key.thread_id, { granted_tools: JSON.stringify(granted) });
}
