import { basename, join } from "node:path";
import { plainWords } from "../base/index.js";
import { atsfError } from "./errors.js";
import { isThere } from "./files.js";
import { type JsonFile, parseObject, readJsonFile, rewriteJsonFile, unusable } from "./json-file.js";
import { changeJson, type JsonChange } from "./json-text.js";
import { ENVELOPE, threadNotFound } from "./layout.js";
import { readableEnvelope, type ThreadEnvelope } from "./schemas.js";
import { assertReadable, versionToWrite } from "./version.js";

export interface ReadEnvelope {
  readonly text: string;
  readonly envelope: ThreadEnvelope;
  /** Why nothing may be written to this thread; undefined when it may. */
  readonly readOnly: string | undefined;
}

/** Changes, or what makes them out of the envelope as it is on disk at that moment. */
export type EnvelopeChanges = readonly JsonChange[] | ((envelope: ThreadEnvelope) => readonly JsonChange[]);

/** Reads `thread.json`. What makes it unusable is thrown with a kind; what does not is left to `validate`. */
export async function readEnvelope(dir: string): Promise<ReadEnvelope> {
  const json = await read(dir);
  return { text: json.text, ...check(dir, json) };
}

/** Changes values of `thread.json` and keeps everything else as it is. The caller holds the thread's lock. */
export async function changeEnvelope(dir: string, changes: EnvelopeChanges): Promise<ThreadEnvelope> {
  const json = await read(dir);
  const { envelope, readOnly } = check(dir, json);
  if (readOnly !== undefined) throw readOnlyThread(envelope.threadId, readOnly);
  const version = { path: ["specVersion"], value: versionToWrite(parseObject(json).specVersion) };
  const wanted = typeof changes === "function" ? changes(envelope) : changes;
  const next = changeJson(json.text, [version, ...wanted]);
  const changed = assertEnvelope(JSON.parse(next), envelope.threadId);
  await rewriteJsonFile(json, next);
  return changed;
}

/** Refuses an envelope that lacks what every reader expects, before it is written. */
export function assertEnvelope(value: unknown, thread_id: string): ThreadEnvelope {
  const parsed = readableEnvelope.safeParse(value, { error: plainWords });
  if (parsed.success && parsed.data.threadId === thread_id) return parsed.data;
  const [issue] = parsed.error?.issues ?? [];
  const problem = issue ? `${issue.path.join(".")} ${issue.message}` : "threadId can't be changed";
  throw atsfError(
    { kind: "atsf.invalid_thread", thread_id, problem },
    `thread.json can't say this: ${problem}. Nothing was written.`,
  );
}

export function readOnlyThread(thread_id: string, reason: string) {
  return atsfError(
    { kind: "atsf.read_only", thread_id, reason },
    `This thread is read-only: ${reason}. Give directory and threadId the same name to write to it.`,
  );
}

async function read(dir: string): Promise<JsonFile> {
  const file = join(dir, ENVELOPE);
  const json = await readJsonFile(file);
  if (json) return json;
  if (!(await isThere(dir))) throw threadNotFound(basename(dir));
  throw unusable(file, "missing", "there is none");
}

function check(dir: string, json: JsonFile): Omit<ReadEnvelope, "text"> {
  const value = parseObject(json);
  assertReadable(value.specVersion, json.file);
  const parsed = readableEnvelope.safeParse({ specVersion: "1.0", ...value }, { error: plainWords });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw unusable(json.file, "schema", `${issue?.path.join(".")} ${issue?.message}`);
  }
  const { threadId } = parsed.data;
  const readOnly =
    threadId === basename(dir)
      ? undefined
      : `its directory is called ${basename(dir)}, but thread.json says ${threadId}`;
  return { envelope: parsed.data, readOnly };
}
