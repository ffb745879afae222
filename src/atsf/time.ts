const UTC = /Z$/i;
const ZONED = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i;

/** Milliseconds of an ISO 8601 time; undefined for what is none. One without a zone is in UTC, as all times of the format. */
export function parseTime(time: unknown): number | undefined {
  if (typeof time !== "string") return undefined;
  const zoned = time.includes("T") && !ZONED.test(time) ? `${time}Z` : time;
  const at = Date.parse(zoned);
  return Number.isNaN(at) ? undefined : at;
}

/** A time as the format wants it: ISO 8601 in UTC. Undefined for what is no time. */
export function toUtc(time: unknown): string | undefined {
  const at = parseTime(time);
  if (at === undefined) return undefined;
  return isUtc(time as string) ? (time as string) : new Date(at).toISOString();
}

export function isUtc(time: string): boolean {
  return UTC.test(time);
}

export function sameTime(a: string, b: string): boolean {
  return a === b || (parseTime(a) !== undefined && parseTime(a) === parseTime(b));
}

/** A time that can stand in a file's name on every system. */
export function timeInName(now: number): string {
  return new Date(now).toISOString().replaceAll(":", "-");
}

/** The time that `timeInName` put there. */
export function timeFromName(text: string): number | undefined {
  const match = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)$/.exec(text);
  const at = match ? Date.parse(`${match[1]}:${match[2]}:${match[3]}`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
