import { stat } from "node:fs/promises";
import { sha256 } from "../../../base/index.js";
import type { CallError } from "../../../client/node.js";
import { countChars, MAX_DOCUMENT_CHARS, methods, normaliseText } from "../../../protocol/index.js";
import { docsByFolder, Folders, formatFolderPath } from "../../folder-path.js";
import { makeFolders } from "../../make-folders.js";
import type { WorkspaceOptions } from "../../options.js";
import { paint, print } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { inChunks } from "./chunks.js";
import { type FileOutcome, reportFiles } from "./file-report.js";
import { type FoundFile, findFiles } from "./find-files.js";
import { readTextFile } from "./text-file.js";

interface ImportOptions extends WorkspaceOptions {
  readonly dryRun?: boolean;
}

/** A file whose text can be saved, and what is there now. */
interface Ready extends FoundFile {
  readonly content: string;
  readonly folder_id?: string | undefined;
  /** 0 when there is no document yet: one that someone makes meanwhile is not overwritten. */
  readonly version: number;
}

/** Takes over the AGENTS.md files of a directory tree. A file that can't be taken is told of and holds nothing up. */
export async function importFiles(dir: string, options: ImportOptions): Promise<void> {
  const { files, refused } = await findFiles(dir);
  const { outcomes, made } = await withSession(options, (session) => importAll(session, files, options));
  if (!options.json) for (const path of made) print(`${paint.green("folder   ")}  ${formatFolderPath(path)}`);
  const all = [...outcomes, ...refused].sort(byPath);
  reportFiles({ outcomes: all, extra: { folders_created: made } }, options);
}

interface Imported {
  readonly outcomes: FileOutcome[];
  /** Paths of the folders that were made for it. */
  readonly made: string[][];
}

async function importAll(
  session: Session,
  files: readonly FoundFile[],
  options: ImportOptions,
): Promise<Imported> {
  const workspace_id = (await session.workspace()).id;
  const tree = await session.call("thread/tree", { workspace_id });
  const folders = new Folders(tree.folders);
  const docs = docsByFolder(tree);
  const outcomes: FileOutcome[] = [];
  const ready: Ready[] = [];
  for (const found of files) {
    const { path, file } = found;
    const checked = await check(found, folders);
    if ("refused" in checked) {
      outcomes.push({ path, file, status: "refused", reason: checked.refused });
      continue;
    }
    const doc = checked.missing ? undefined : docs.get(checked.folder_id);
    const same = doc?.content_sha256 === sha256(checked.content);
    if (same) outcomes.push({ path, file, status: "unchanged" });
    else ready.push({ ...found, ...checked, version: doc?.version ?? 0 });
  }
  if (options.dryRun) return { outcomes: [...outcomes, ...ready.map(done)], made: [] };
  const { placed, made } = await place(session, { workspace_id, folders, ready });
  const saved = await inChunks("Importing", placed, (each) => save(session, workspace_id, each));
  return { outcomes: [...outcomes, ...saved], made };
}

type Checked = { refused: string } | { content: string; folder_id?: string | undefined; missing: boolean };

/** More bytes than this are too many characters, whatever they are; it spares reading them. */
const MAX_BYTES = MAX_DOCUMENT_CHARS * 8;

/** Looks whether the gateway would take a file, by its own rules, before anything is changed. */
async function check({ path, file }: FoundFile, folders: Folders): Promise<Checked> {
  try {
    if ((await stat(file)).size > MAX_BYTES) return { refused: tooLong("more") };
    const content = normaliseText(await readTextFile(file));
    const chars = countChars(content);
    if (chars > MAX_DOCUMENT_CHARS) return { refused: tooLong(String(chars)) };
    const { folder, missing } = folders.follow(path);
    const problem = missing.map(nameProblem).find((each) => each !== undefined) ?? textProblem(content);
    if (problem !== undefined) return { refused: problem };
    return { content, folder_id: folder?.id, missing: missing.length > 0 };
  } catch (error) {
    return { refused: (error as Error).message.replace(file, "it").replace(/\.$/, "") };
  }
}

function tooLong(chars: string): string {
  return `it has ${chars} characters; the limit is ${MAX_DOCUMENT_CHARS}`;
}

const WORKSPACE = { workspace_id: "ws_checked_only" };

function nameProblem(name: string): string | undefined {
  const { error } = methods["thread/folder/create"].params.safeParse({ ...WORKSPACE, name });
  return error && `a folder can't be called ${JSON.stringify(name)}: its name ${error.issues[0]?.message}`;
}

function textProblem(content: string): string | undefined {
  const { error } = methods["thread/agents_doc/save"].params.safeParse({ ...WORKSPACE, content });
  return error && `it ${error.issues[0]?.message}`;
}

interface Placing {
  readonly workspace_id: string;
  readonly folders: Folders;
  readonly ready: readonly Ready[];
}

/** Makes the folders that are missing, parents first. */
async function place(session: Session, { workspace_id, folders, ready }: Placing) {
  const placed: (Ready | FileOutcome)[] = [];
  const made: string[][] = [];
  for (const each of ready) {
    try {
      const result = await makeFolders(session, workspace_id, folders, each.path);
      made.push(...result.made.map(({ id }) => folders.pathOf(id)));
      placed.push({ ...each, folder_id: result.folder?.id });
    } catch (error) {
      placed.push(refusedBy(each, error));
    }
  }
  return { placed, made };
}

async function save(
  { call }: Session,
  workspace_id: string,
  each: Ready | FileOutcome,
): Promise<FileOutcome> {
  if ("status" in each) return each;
  const { folder_id, content, version } = each;
  try {
    await call("thread/agents_doc/save", {
      workspace_id,
      ...(folder_id !== undefined && { folder_id }),
      content,
      expected_version: version,
      save_reason: "manual",
    });
    return done(each);
  } catch (error) {
    return refusedBy(each, error);
  }
}

function done({ path, file, version }: Ready): FileOutcome {
  return { path, file, status: version === 0 ? "created" : "updated" };
}

/** A refusal concerns one file; anything else (a lost connection, say) concerns all that follow. */
function refusedBy({ path, file }: FoundFile, error: unknown): FileOutcome {
  const { name, kind, message } = error as CallError;
  if (name !== "CallError") throw error;
  const reason = kind === "version_conflict" ? "someone else changed it meanwhile; import again" : message;
  return { path, file, status: "refused", reason: reason.replace(/\.$/, "") };
}

function byPath(a: FileOutcome, b: FileOutcome): number {
  return a.file < b.file ? -1 : 1;
}
