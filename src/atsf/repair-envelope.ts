import { basename, join } from "node:path";
import { createAtomic, readIfThere, writeAtomic } from "./files.js";
import { parseObject, readJsonFile } from "./json-file.js";
import { changeJson } from "./json-text.js";
import { ENVELOPE, LOG } from "./layout.js";
import { followLog } from "./log/read.js";
import { type Message, readableEnvelope, type ThreadEnvelope } from "./schemas.js";
import { countIn, type Derived, derivedAtStart, derivedChanges, emptyStats } from "./stats.js";
import { timeInName, toUtc } from "./time.js";
import { SPEC_VERSION } from "./version.js";

const TITLE_CHARACTERS = 60;
/** Each step mends one field; an envelope has far fewer. */
const MOST_STEPS = 200;

/** Makes an envelope whole. What it says and can stay does; the old one is kept beside it. The caller holds the lock. */
export async function mendEnvelope(root: string, dir: string, now: number): Promise<string> {
  const file = join(dir, ENVELOPE);
  const found = await readIfThere(file);
  const aside = found && (await keepAside(dir, found, now));
  const fallback = await envelopeFromLog(root, dir, now);
  const mended = found && (await mendedText(file, fallback));
  await writeAtomic(file, mended ?? `${JSON.stringify(fallback, null, 2)}\n`);
  const done =
    mended === undefined ? "made a new one from the log" : "added or replaced what was missing or wrong";
  return aside === undefined ? done : `${done}; the old one is ${aside}`;
}

async function keepAside(dir: string, bytes: Buffer, now: number): Promise<string> {
  const base = `${ENVELOPE}.broken-${timeInName(now)}`;
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (await createAtomic(join(dir, name), bytes)) return name;
  }
}

/** The text with its wrong and missing fields mended one by one; undefined when nothing of it can be read. */
async function mendedText(file: string, fallback: ThreadEnvelope): Promise<string | undefined> {
  let text: string;
  try {
    const json = await readJsonFile(file);
    if (!json) return undefined;
    parseObject(json);
    text = json.text;
  } catch {
    return undefined;
  }
  for (let step = 0; step < MOST_STEPS; step++) {
    const { data, error } = readableEnvelope.safeParse(JSON.parse(text));
    if (data) return changeJson(text, derivedChanges(data, derivedFrom(data, fallback)));
    const [issue] = error.issues;
    if (!issue) return undefined;
    text = mendField(text, issue.path as (string | number)[], fallback);
  }
  return undefined;
}

function derivedFrom(envelope: ThreadEnvelope, { stats, updatedAt }: ThreadEnvelope): Derived {
  return stats.messageCount === 0 ? derivedAtStart(envelope) : { stats, updatedAt };
}

/** A required field gets what the log tells; an optional one that is wrong goes, with what it stands in if need be. */
function mendField(text: string, path: (string | number)[], fallback: ThreadEnvelope): string {
  const value = path.reduce<unknown>((inner, key) => (inner as Keyed | undefined)?.[key], fallback);
  const next = changeJson(text, [{ path, value }]);
  return next === text ? changeJson(text, [{ path: path.slice(0, -1), value: undefined }]) : next;
}

type Keyed = Readonly<Record<string | number, unknown>>;

/** What the log tells is enough for an envelope; who the agent was, nobody knows any more. */
async function envelopeFromLog(root: string, dir: string, now: number): Promise<ThreadEnvelope> {
  let stats = emptyStats();
  let title: string | undefined;
  let first: string | undefined;
  let last: string | undefined;
  for await (const entry of followLog(join(dir, LOG), 0)) {
    if ("problem" in entry) continue;
    stats = countIn(stats, entry.message);
    title ??= firstLine(entry.message);
    const time = toUtc(entry.message.timestamp);
    first ??= time;
    last = time ?? last;
  }
  const createdAt = first ?? new Date(now).toISOString();
  return {
    specVersion: SPEC_VERSION,
    threadId: basename(dir),
    title: title ?? "Recovered thread",
    createdAt,
    updatedAt: last ?? createdAt,
    agent: { id: "unknown", name: "Unknown agent" },
    context: { workingDir: root, relativeDir: "." },
    stats,
    metadata: {},
  };
}

function firstLine({ role, content }: Message): string | undefined {
  const block = role === "user" ? content.find((each) => each?.type === "text") : undefined;
  const line = typeof block?.text === "string" ? block.text.trim().split("\n")[0] : undefined;
  return line ? [...line].slice(0, TITLE_CHARACTERS).join("") : undefined;
}
