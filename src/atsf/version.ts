import { atsfError } from "./errors.js";

/** The version of the format this library writes. */
export const SPEC_VERSION = "1.1";

interface Version {
  readonly major: number;
  readonly minor: number;
}

/** "1.10" is newer than "1.9": the parts are numbers. Undefined for what is no version at all. */
export function parseVersion(text: unknown): Version | undefined {
  const match = typeof text === "string" ? /^(\d{1,9})\.(\d{1,9})$/.exec(text) : null;
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}

/** Refuses what a newer MAJOR wrote. A missing version counts as 1.0; whoever validates reports it. */
export function assertReadable(found: unknown, file: string): void {
  if (found === undefined) return;
  const version = parseVersion(found);
  if (version && version.major <= 1) return;
  const told = typeof found === "string" ? found : JSON.stringify(found);
  throw atsfError(
    { kind: "atsf.version_unsupported", file, found: told },
    `${file} has version ${told} of the format; this program reads 1.x. It was left untouched.`,
  );
}

/** The version to write over one that was read: ours, unless the file is newer. A rewrite never downgrades. */
export function versionToWrite(found: unknown): string {
  const version = parseVersion(found);
  const own = parseVersion(SPEC_VERSION) as Version;
  return version && version.major === own.major && version.minor > own.minor
    ? (found as string)
    : SPEC_VERSION;
}
