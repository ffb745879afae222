import { type FSWatcher, statSync, watch } from "node:fs";
import { Lru } from "../../base/index.js";

interface Watched {
  readonly dir: string;
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/**
 * Directories that are watched, those asked for longest ago let go of first. Each is known by what it is, not only by its
 * name: one that was made anew is another, and the old watcher hears nothing of it.
 */
export class Watchers {
  readonly #watched: Lru<string, Watched>;
  readonly #report: (error: unknown) => void;
  #told = false;

  constructor(most: number, report: (error: unknown) => void) {
    this.#watched = new Lru(most, ({ watcher }) => watcher.close());
    this.#report = report;
  }

  /** Without a watcher (the system has no more, say) the next sweep finds what changed. */
  watch(key: string, dir: string, onChange: (name: string | null) => void): void {
    const identity = identityOf(dir);
    const known = this.#watched.get(key);
    if (identity === undefined || (known?.dir === dir && known.identity === identity)) return;
    try {
      const watcher = watch(dir, { persistent: false }, (_event, name) => onChange(name));
      watcher.on("error", () => this.forget(key, dir));
      this.#watched.set(key, { dir, identity, watcher });
    } catch (error) {
      this.#tell(error);
    }
  }

  has(key: string): boolean {
    const known = this.#watched.get(key);
    return known !== undefined && identityOf(known.dir) === known.identity;
  }

  /** Lets go of a directory, unless the key stands for another by now. */
  forget(key: string, dir: string): void {
    if (this.#watched.get(key)?.dir === dir) this.#watched.delete(key);
  }

  clear(): void {
    this.#watched.clear();
  }

  #tell(error: unknown): void {
    if (this.#told || (error as NodeJS.ErrnoException).code === "ENOENT") return;
    this.#told = true;
    this.#report(error);
  }
}

/** A number alone does not tell: systems give that of a deleted directory to the next one. */
export function identityOf(dir: string): string | undefined {
  try {
    const found = statSync(dir);
    return found.isDirectory() ? `${found.ino}:${found.birthtimeMs}` : undefined;
  } catch {
    return undefined;
  }
}
