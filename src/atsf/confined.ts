import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { diskError, isMissing } from "./disk.js";
import { atsfError } from "./errors.js";

/** Whether a path, links resolved, stands within a directory. Throws when it is not there. */
export async function isInside(root: string, path: string): Promise<boolean> {
  if (wayTo(root, path) === "plain") return true;
  const [base, real] = await Promise.all([realpath(root), realpath(path)]);
  return isWithin(base, real);
}

/** Nothing on the way from a directory to a path is a link: no need to ask where links lead. */
export function isPlainlyInside(root: string, path: string): boolean {
  return wayTo(root, path) === "plain";
}

/** What is met on the way from a directory to a path: plain directories, nothing at some point, or a link. */
function wayTo(root: string, path: string): "plain" | "missing" | "unclear" {
  const below = relative(root, path);
  if (below.startsWith("..") || isAbsolute(below)) return "unclear";
  let at = root;
  for (const part of below === "" ? [] : below.split(sep)) {
    at = join(at, part);
    const found = lookAt(at);
    if (!found) return "missing";
    if (found.isSymbolicLink()) return "unclear";
  }
  return "plain";
}

function lookAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw diskError(error, path, "read");
  }
}

/** Refuses a file of a thread that is a link to somewhere else: reading or writing it would touch what is not ours. */
export async function assertInside(root: string, path: string): Promise<void> {
  if (wayTo(root, path) !== "unclear") return;
  try {
    if (await isInside(root, path)) return;
  } catch (error) {
    if (!isMissing(error)) throw diskError(error, path, "read");
    if (wouldBeInside(root, path)) return;
  }
  throw leadsOut(root, path);
}

/** What a link in a directory leads to. One that leads out is refused. */
export function behindLink(root: string, path: string): string {
  const real = realpathSync(path);
  if (!isWithin(realpathSync(root), real)) throw leadsOut(root, path);
  return real;
}

const MOST_LINKS = 40;

/** Whoever writes through a link that leads nowhere yet makes a file where it leads: that must be inside too. */
function wouldBeInside(root: string, path: string): boolean {
  const start = resolve(path);
  let at = parse(start).root;
  const parts = start.slice(at.length).split(sep);
  for (let links = 0; parts.length > 0; ) {
    const next = join(at, parts.shift() as string);
    const target = lookAt(next)?.isSymbolicLink() ? readlinkSync(next) : undefined;
    if (target === undefined) at = next;
    else {
      if (++links > MOST_LINKS) return false;
      if (isAbsolute(target)) at = parse(target).root;
      parts.unshift(...target.split(sep));
    }
  }
  return isWithin(realpathSync(root), at);
}

function isWithin(base: string, real: string): boolean {
  return real === base || real.startsWith(base + sep);
}

function leadsOut(root: string, path: string) {
  return atsfError(
    { kind: "atsf.invalid_file", file: path, problem: "leads_out" },
    `${path} is a link that leads out of ${root}. It was not followed. Replace it by what it leads to, then try again.`,
  );
}
