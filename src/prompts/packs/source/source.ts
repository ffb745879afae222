/** What is at a path of a workspace's directory. A problem is words that continue the path: `is larger than …`. */
export type FoundFile =
  | { readonly bytes: Buffer }
  | { readonly missing: true }
  | { readonly problem: string };

/** Where packs are read: the directory as it is, or as a commit has it. Paths were accepted by `acceptPath`. */
export interface PackSource {
  /** The full hash of the commit; absent: the working tree. */
  readonly version?: string;
  read(path: string): Promise<FoundFile>;
  /** Names of what is in a directory; none when there is no such directory. */
  list(directory: string): Promise<string[]>;
}

export const LARGEST_FILE = 1024 * 1024;
export const TOO_LARGE = "is larger than 1 MiB";
export const NO_FILE = "is not a regular file";
