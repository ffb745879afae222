import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { atsfError } from "./errors.js";
import { isMissing, writeAtomic } from "./files.js";
import { changeJson, type JsonChange } from "./json-text.js";
import { ENVELOPE } from "./layout.js";
import { type ThreadEnvelope, threadEnvelope } from "./schemas.js";
import { assertReadable, versionToWrite } from "./version.js";

export interface ReadEnvelope {
  readonly text: string;
  readonly envelope: ThreadEnvelope;
  /** Why nothing may be written to this thread; undefined when it may. */
  readonly readOnly: string | undefined;
}

/** Reads `thread.json`. What makes it unusable is thrown with a kind; what does not is left to `validate`. */
export async function readEnvelope(dir: string): Promise<ReadEnvelope> {
  const file = join(dir, ENVELOPE);
  const text = await readText(file);
  const value = parseObject(text, file);
  assertReadable(value.specVersion, file);
  const parsed = threadEnvelope.safeParse({ specVersion: "1.0", ...value });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw broken(file, "schema", `${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { threadId } = parsed.data;
  const readOnly =
    threadId === basename(dir)
      ? undefined
      : `its directory is called ${basename(dir)}, but thread.json says ${threadId}`;
  return { text, envelope: parsed.data, readOnly };
}

/** Changes values of `thread.json` and keeps everything else as it is. The caller holds the thread's lock. */
export async function changeEnvelope(dir: string, changes: readonly JsonChange[]): Promise<ThreadEnvelope> {
  const { text, envelope, readOnly } = await readEnvelope(dir);
  if (readOnly !== undefined) {
    throw atsfError(
      { kind: "atsf.read_only", thread_id: envelope.threadId, reason: readOnly },
      `This thread is read-only: ${readOnly}.`,
    );
  }
  const version = { path: ["specVersion"], value: versionToWrite(JSON.parse(text).specVersion) };
  const next = changeJson(text, [version, ...changes]);
  if (next !== text) await writeAtomic(join(dir, ENVELOPE), next);
  return threadEnvelope.parse(JSON.parse(next));
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    if (isMissing(error)) throw broken(file, "missing", "there is none");
    throw error;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw broken(file, "not_utf8", "it is not UTF-8");
  }
}

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Told below: empty and half-written files end here.
  }
  throw broken(file, "not_json", text.trim() === "" ? "it is empty" : "it is not a JSON object");
}

function broken(file: string, problem: string, why: string) {
  return atsfError({ kind: "atsf.invalid_file", file, problem }, `${file} can't be used: ${why}.`);
}
