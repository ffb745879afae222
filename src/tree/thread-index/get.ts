import type { ParsedParams, Result } from "../../protocol/index.js";
import type { TreeDeps } from "../deps.js";
import { threadToWire } from "../wire.js";
import { findThread } from "./locate.js";

export async function getThread(
  deps: TreeDeps,
  params: ParsedParams<"thread/get">,
): Promise<Result<"thread/get">> {
  return { thread: threadToWire(await deps.store.read(() => findThread(params))) };
}
