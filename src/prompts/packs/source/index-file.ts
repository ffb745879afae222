import { z } from "zod";
import { plainWords } from "../../../base/index.js";
import { readJson } from "../../blobs/messages.js";
import { unreadable } from "../../errors.js";
import { type AcceptedPath, acceptPath } from "./path.js";
import type { PackSource } from "./source.js";

const INDEX_PATH = "agent.workspace.json";
const CONVENTION = "prompts/packs";
const DEFAULT_PACK = "default";

const packName = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
    "must be the name of a pack: letters, digits, dots, dashes and underscores",
  );

const indexSchema = z.looseObject({
  schema_version: z.literal(1, "must be 1"),
  prompt_packs: z.record(packName, z.string().min(1).max(4096)).optional(),
  defaults: z.looseObject({ prompt_pack: packName.optional() }).optional(),
});

/** What `agent.workspace.json` says of packs. */
export interface PackIndex {
  /** The file itself; absent when there is none, and everything goes by convention. */
  readonly bytes?: Buffer;
  readonly paths: ReadonlyMap<string, string>;
  /** The pack that is meant when none is named. */
  readonly defaultPack: string;
  /** Whether the index says so. */
  readonly named: boolean;
}

/** An index that is there and can't be read is a failure: going by convention would read another prompt. */
export async function readIndex(source: PackSource): Promise<PackIndex> {
  const found = await source.read(INDEX_PATH);
  if ("missing" in found) return { paths: new Map(), defaultPack: DEFAULT_PACK, named: false };
  if ("problem" in found) throw broken(found.problem);
  const json = readJson(found.bytes);
  if ("problem" in json) throw broken(`can't be used: ${json.problem}`);
  const { data, error } = indexSchema.safeParse(json.value, { error: plainWords });
  if (error) throw broken(`can't be used: ${problemIn(error)}`);
  const name = data.defaults?.prompt_pack;
  return {
    bytes: found.bytes,
    paths: new Map(Object.entries(data.prompt_packs ?? {})),
    defaultPack: name ?? DEFAULT_PACK,
    named: name !== undefined,
  };
}

/** The file of a pack: where the index says, else where the convention does. */
export function pathOf({ paths }: Pick<PackIndex, "paths">, pack: string): AcceptedPath & { given: string } {
  const given = paths.get(pack) ?? `${CONVENTION}/${pack}.json`;
  return { ...acceptPath(given), given };
}

/** Names of packs that stand where the convention says. */
export async function packsByConvention(source: PackSource): Promise<string[]> {
  const names = await source.list(CONVENTION);
  return names
    .filter((name) => name.endsWith(".json"))
    .map((name) => name.slice(0, -".json".length))
    .filter((name) => packName.safeParse(name).success);
}

function broken(why: string) {
  return unreadable("index", `${INDEX_PATH} ${why}. Correct it, or remove it to go by convention.`);
}

function problemIn({ issues }: z.ZodError): string {
  const [issue] = issues;
  const where = issue?.path.map(String).join(".") ?? "";
  const nested = issue?.code === "invalid_key" ? issue.issues[0]?.message : undefined;
  const words = nested ?? issue?.message ?? "";
  return (where === "" ? words : `${where}: ${words}`).slice(0, MOST_WORDS).toWellFormed();
}

const MOST_WORDS = 500;
