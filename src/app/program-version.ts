import { type ChildProcessByStdio, spawn } from "node:child_process";
import { parse } from "node:path";
import type { Readable } from "node:stream";
import { endGroup, endGroupWithUs, HAS_GROUPS } from "../base/index.js";

/** On a busy machine some need ten seconds to say a number. */
const PATIENCE_MS = 30_000;
const GRACE_MS = 300;
const MOST_BYTES = 16 * 1024;

/** They look for updates otherwise, or tell somebody that they were started. */
const QUIET = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  DISABLE_TELEMETRY: "1",
  NO_UPDATE_NOTIFIER: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  PI_OFFLINE: "1",
};

export interface VersionAsked {
  readonly path: string;
  /** All of the environment it sees. */
  readonly env: NodeJS.ProcessEnv;
  readonly stop: AbortSignal;
  readonly withinMs?: number;
}

/** What a program says to `--version`; undefined when it says none in time. Nothing of it is left running. */
export async function askVersion(asked: VersionAsked): Promise<string | undefined> {
  if (asked.stop.aborted) return undefined;
  const child = start(asked);
  if (!child?.pid) {
    // What it fails with is told later, and would be nobody's.
    child?.on("error", () => {});
    return undefined;
  }
  const { pid } = child;
  const callOff = endGroupWithUs(pid);
  try {
    return await answerOf(child, asked);
  } finally {
    await endGroup(pid, GRACE_MS);
    callOff();
  }
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

function start({ path, env }: VersionAsked): Child | undefined {
  try {
    return spawn(path, ["--version"], {
      env: { ...env, ...QUIET },
      // No project's settings are in effect there.
      cwd: parse(path).root || "/",
      stdio: ["ignore", "pipe", "pipe"],
      detached: HAS_GROUPS,
      windowsHide: true,
    });
  } catch {
    return undefined;
  }
}

function answerOf(child: Child, { stop, withinMs = PATIENCE_MS }: VersionAsked): Promise<string | undefined> {
  return new Promise((resolve) => {
    const out = collect(child.stdout);
    const err = collect(child.stderr);
    const done = (version: string | undefined) => {
      clearTimeout(late);
      stop.removeEventListener("abort", gone);
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(version);
    };
    const gone = () => done(undefined);
    let late = setTimeout(gone, withinMs);
    const said = (code: number | null) => done(code === 0 ? versionIn(out(), err()) : undefined);
    stop.addEventListener("abort", gone, { once: true });
    child.on("error", gone);
    child.on("close", said);
    // What it leaves behind may hold its pipes open for ever.
    child.on("exit", (code) => {
      clearTimeout(late);
      late = setTimeout(() => said(code), GRACE_MS);
    });
  });
}

function collect(stream: Readable): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    if (bytes < MOST_BYTES) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).toString("utf8").slice(0, MOST_BYTES);
}

const VERSION = "\\d+\\.\\d+(?:\\.\\d+)?(?:-[0-9A-Za-z.-]{1,32})?(?:\\+[0-9A-Za-z.-]{1,32})?";

/** pi says it on its standard error. There, only a line of its own is one: the rest are warnings. */
function versionIn(out: string, err: string): string | undefined {
  const said = new RegExp(`(?<![\\w.])v?(${VERSION})(?![\\w.])`).exec(out);
  const alone = new RegExp(`^v?(${VERSION})\\s*$`, "m").exec(err);
  return (said ?? alone)?.[1];
}
