import { lstat, mkdir, readFile, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { type AgentsDocSummary, normaliseText } from "../../../protocol/index.js";
import { cliError } from "../../errors.js";
import { docsByFolder, Folders, formatName } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { type Session, withSession } from "../../session.js";
import { isWithin } from "../../workspace-choice.js";
import { inChunks } from "./chunks.js";
import { type FileOutcome, reportFiles } from "./file-report.js";
import { FILE_NAME, isLeftOut } from "./find-files.js";
import { reason } from "./text-file.js";

interface ExportOptions extends WorkspaceOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
}

interface Document {
  readonly path: readonly string[];
  readonly content: string;
  readonly refused?: string | undefined;
}

/** Writes the documents of the tree as files. What differs is not overwritten unless that is asked for. */
export async function exportFiles(dir: string, options: ExportOptions): Promise<void> {
  const documents = await withSession(options, readDocuments);
  const top = resolve(dir);
  if (!options.dryRun) await makeDirectory(top);
  const written = new Set<string>();
  const outcomes: FileOutcome[] = [];
  // One after the other: two folders whose names differ only in case may be one directory here.
  for (const document of documents) outcomes.push(await write(document, { top, written, options }));
  reportFiles({ outcomes }, options);
}

async function makeDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw cliError({ kind: "file.unwritable", path }, `${path} can't be made: ${reason(error)}.`, error);
  });
}

async function readDocuments(session: Session): Promise<Document[]> {
  const workspace_id = (await session.workspace()).id;
  const tree = await session.call("thread/tree", { workspace_id });
  const folders = new Folders(tree.folders);
  const read = async ({ folder_id }: AgentsDocSummary): Promise<Document> => {
    const path = folders.pathOf(folder_id);
    const refused = pathProblem(path, folders);
    if (refused !== undefined) return { path, content: "", refused };
    const scope = { workspace_id, ...(folder_id !== undefined && { folder_id }) };
    const { explicit } = await session.call("thread/agents_doc/get", scope);
    return { path, content: explicit?.content ?? "" };
  };
  const docs = docsByFolder(tree);
  const inOrder = [undefined, ...[...folders.all()].map(({ id }) => id)];
  return inChunks(
    "Reading",
    inOrder.flatMap((id) => docs.get(id) ?? []),
    read,
  );
}

/** Why a folder's document can't become a file that an import would read back to the same place. */
function pathProblem(path: readonly string[], folders: Folders): string | undefined {
  try {
    folders.follow(path);
  } catch (error) {
    return (error as Error).message.split(".")[0];
  }
  for (const name of path) {
    const shown = formatName(name);
    if (name === "." || name === ".." || /[/\0]/.test(name)) return `a directory can't be called ${shown}`;
    if (isLeftOut(name)) return `an import leaves directories called ${shown} out`;
  }
  return undefined;
}

interface Target {
  readonly top: string;
  /** Files of this run, by device and number. */
  readonly written: Set<string>;
  readonly options: ExportOptions;
}

async function write({ path, content, refused }: Document, target: Target): Promise<FileOutcome> {
  const { top, written, options } = target;
  const file = join(top, ...path, FILE_NAME);
  const outcome = (status: FileOutcome["status"], why?: string): FileOutcome => ({
    path,
    file,
    status,
    ...(why !== undefined && { reason: why }),
  });
  if (refused !== undefined) return outcome("refused", refused);
  try {
    const place = await whereTo(top, path);
    if ("problem" in place) return outcome("refused", place.problem);
    const there = await readFile(place.file).catch(absent);
    if (there && normaliseText(there.toString()) === content) return outcome("unchanged");
    if (there && written.has(await identity(place.file))) {
      return outcome("refused", "another folder was just written there: their names differ only in case");
    }
    if (there && !options.force)
      return outcome("refused", "a file that differs is there; --force replaces it");
    if (!options.dryRun) {
      await writeWhole(place.file, content);
      written.add(await identity(place.file));
    }
    return outcome(there ? "updated" : "created");
  } catch (error) {
    return outcome("refused", reason(error as NodeJS.ErrnoException));
  }
}

type Place = { readonly file: string } | { readonly problem: string };

/** The file to write. A link within the directory is followed, one that leads out of it is not. */
async function whereTo(top: string, path: readonly string[]): Promise<Place> {
  let at = top;
  for (const name of path) {
    at = join(at, name);
    const entry = await lstat(at).catch(absent);
    if (!entry) break;
    if (entry.isSymbolicLink()) return { problem: `${at} is a link` };
    if (!entry.isDirectory()) return { problem: `${at} is not a directory` };
  }
  const file = join(top, ...path, FILE_NAME);
  const entry = await lstat(file).catch(absent);
  if (!entry?.isSymbolicLink()) return { file };
  const real = await realpath(file).catch(absent);
  const inside = real !== undefined && isWithin(real, await realpath(top));
  return inside ? { file: real } : { problem: "a link that leads out of the directory is there" };
}

/** Whole or not at all. */
async function writeWhole(file: string, content: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
  try {
    await writeFile(temporary, content);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

async function identity(file: string): Promise<string> {
  const { dev, ino } = await stat(file);
  return `${dev}:${ino}`;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
