import { parsePrompt } from "../../blobs/messages.js";
import { unreadable } from "../../errors.js";
import { gitTree } from "./git-tree.js";
import { type PackIndex, pathOf, readIndex } from "./index-file.js";
import type { PackSource } from "./source.js";
import { workingTree } from "./working-tree.js";

export interface ResolvedPack {
  /** The full hash of the commit; absent: the working tree. */
  readonly version?: string;
  readonly index?: Buffer;
  /** The bytes of its file: a prompt. */
  readonly content: Buffer;
}

/** Reads a pack as it is, or as a commit has it. Throws `prompt.unreadable` with the stage it came to. */
export async function resolvePack(
  root: string,
  { pack, version }: { readonly pack: string; readonly version?: string },
): Promise<ResolvedPack> {
  const source = await openSource(root, version);
  const index = await readIndex(source);
  const content = await readPack(source, index, pack);
  return {
    ...(source.version !== undefined && { version: source.version }),
    ...(index.bytes && { index: index.bytes }),
    content,
  };
}

export async function openSource(root: string, version: string | undefined): Promise<PackSource> {
  return version === undefined ? workingTree(root) : gitTree(root, version);
}

/** The bytes of a pack's file. */
export async function readPack(source: PackSource, index: PackIndex, pack: string): Promise<Buffer> {
  const { given, ...accepted } = pathOf(index, pack);
  if ("problem" in accepted)
    throw unreadable(
      "resolve",
      `The path of the pack ${pack}, ${JSON.stringify(given)}, ${accepted.problem}.`,
    );
  const found = await source.read(accepted.path);
  if ("missing" in found) throw unreadable("read", missing(source, pack, accepted.path));
  if ("problem" in found) throw unreadable("read", `${accepted.path} ${found.problem}.`);
  const parsed = parsePrompt(found.bytes);
  if ("problem" in parsed)
    throw unreadable(parsed.stage, `${accepted.path} is no prompt: ${parsed.problem}.`);
  return found.bytes;
}

function missing({ version }: PackSource, pack: string, path: string): string {
  const where = version === undefined ? "in the workspace's directory" : `at the version ${version}`;
  return `There is no file ${path} ${where}. Make it, or name another pack than ${pack}.`;
}
