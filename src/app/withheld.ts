import { type HeddleConfig, secretVariables } from "../agents/index.js";

/** No secrets, and no program finds its way without them: a configuration may well be filled with `${HOME}`. */
const EVERYBODYS =
  /^(HOME|PATH|PWD|USER|LOGNAME|SHELL|TERM|LANG|LANGUAGE|LC_.*|TZ|TMPDIR|XDG_.*|HOSTNAME|EDITOR|VISUAL)$/;

/**
 * The environment variables that no child sees: keys of model APIs, and what configurations were filled with, the user's and
 * those of trusted projects. What one project was filled with, a command in another workspace could tell it, too.
 */
export class Withheld {
  /** Of trusted projects, as it is now; set by whoever follows their files. */
  ofProjects: () => readonly string[] = () => [];
  #config: HeddleConfig | undefined;
  #known: string;

  constructor(config: HeddleConfig | undefined) {
    this.#config = config;
    this.#known = this.#all();
  }

  /** The user's configuration is another now, and whoever says so has everything brought to it. */
  use(config: HeddleConfig | undefined): void {
    this.#config = config;
    this.#known = this.#all();
  }

  /** With the configuration in effect, or with one that is about to be. */
  names(config = this.#config): ReadonlySet<string> {
    const all = [...secretVariables(config), ...this.ofProjects()];
    return new Set(all.filter((name) => !EVERYBODYS.test(name)));
  }

  /** Whether they are others than when this was asked last. */
  areOthers(): boolean {
    const before = this.#known;
    this.#known = this.#all();
    return this.#known !== before;
  }

  #all(): string {
    return [...this.names()].toSorted().join(" ");
  }
}
