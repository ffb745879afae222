import { isKind } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import type { PromptsDeps } from "../deps.js";
import { type PackIndex, packsByConvention, pathOf, readIndex } from "./source/index-file.js";
import { openSource, readPack } from "./source/resolve.js";
import type { PackSource } from "./source/source.js";
import { requireThere } from "./target.js";

type ListedPack = Result<"prompt/packs">["data"][number];

/** More than anyone writes; each of them is read to see whether it can be used. */
const MOST_PACKS = 200;

/** The packs of a workspace's directory: those the index names, and those that stand where the convention says. */
export async function listPacks(
  deps: PromptsDeps,
  { workspace_id, version }: ParsedParams<"prompt/packs">,
): Promise<Result<"prompt/packs">> {
  const workspace = await deps.store.read(() => requireThere(workspace_id));
  const source = await openSource(await deps.files.ensureDirectory(workspace), version);
  const index = await indexOrProblem(source);
  const names = new Set([
    ...index.paths.keys(),
    ...(index.named ? [index.defaultPack] : []),
    ...(await packsByConvention(source)),
  ]);
  const data: ListedPack[] = [];
  for (const name of [...names].sort().slice(0, MOST_PACKS)) data.push(await describe(source, index, name));
  return { data };
}

interface FoundIndex extends PackIndex {
  /** Why no pack can be read. */
  readonly problem?: string;
}

/** With an index that can't be read no pack can: each says why, and one at least stands there to say it. */
async function indexOrProblem(source: PackSource): Promise<FoundIndex> {
  try {
    return await readIndex(source);
  } catch (error) {
    if (!isKind(error, "prompt.unreadable")) throw error;
    return { paths: new Map(), defaultPack: "default", named: true, problem: error.message };
  }
}

async function describe(source: PackSource, index: FoundIndex, name: string): Promise<ListedPack> {
  const { given, ...accepted } = pathOf(index, name);
  const path = "path" in accepted ? accepted.path : given;
  const error = index.problem ?? (await problemOf(source, index, name));
  return {
    name,
    path,
    valid: error === undefined,
    ...(name === index.defaultPack && { default: true }),
    ...(error !== undefined && { error }),
  };
}

async function problemOf(source: PackSource, index: PackIndex, name: string): Promise<string | undefined> {
  try {
    await readPack(source, index, name);
    return undefined;
  } catch (error) {
    if (isKind(error, "prompt.unreadable")) return error.message;
    throw error;
  }
}
