import picomatch from "picomatch";

/** Whether a list lets a name through: `null` sets no limit, an empty one lets nothing through. */
export function allowed(globs: readonly string[] | null, name: string): boolean {
  return globs === null || globs.some((glob) => matches(glob, name));
}

/** Whether a list keeps a name out. */
export function denied(globs: readonly string[] | null, name: string): boolean {
  return denying(globs, name) !== undefined;
}

/** The pattern of a list that keeps a name out. */
export function denying(globs: readonly string[] | null, name: string): string | undefined {
  return globs?.find((glob) => matches(glob, name));
}

const known = new Map<string, (name: string) => boolean>();

/** Nothing but globs: no `!`, no extended patterns, and a dot is a character like any other. */
function matches(glob: string, name: string): boolean {
  const matcher = known.get(glob) ?? picomatch(glob, { nonegate: true, dot: true, noextglob: true });
  known.set(glob, matcher);
  return matcher(name);
}
