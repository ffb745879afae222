import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** What a window that exists can be given; anything else needs one made for it. */
const LOOKS = ["viewport", "colorScheme", "reducedMotion", "forcedColors", "contrast"] as const;
type Looks = Pick<BrowserContextOptions, (typeof LOOKS)[number]>;

/** What can't be taken back from a window it was done to. */
const LASTING = [
  "addInitScript",
  "exposeBinding",
  "exposeFunction",
  "grantPermissions",
  "newCDPSession",
  "route",
  "routeWebSocket",
  "setExtraHTTPHeaders",
  "setOffline",
];

const PLAIN = { viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" } as const;
const CLEANED_WITHIN_MS = 5_000;

/**
 * The windows of a browser, each with a profile of its own. A window that was used is cleaned and used again: to start
 * one takes five times as long as to go to an address in it.
 */
export class Windows {
  readonly #browser: Browser;
  readonly #clean: Page[] = [];
  readonly #spoilt = new WeakSet<BrowserContext>();
  readonly #looks = new WeakMap<BrowserContext, Looks>();

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** A window that keeps nothing of anybody before. */
  async take(options: BrowserContextOptions): Promise<Page> {
    const page = (await this.#usable(options)) ?? (await this.#made(options));
    await this.#dress(page, options);
    return page;
  }

  /** One more of the same profile. */
  async another(page: Page): Promise<Page> {
    const other = await page.context().newPage();
    await this.#dress(other, this.#looks.get(page.context()) ?? {});
    return other;
  }

  /** Gives a window back: it is cleaned if that can be done, and closed if not. */
  async giveBack(page: Page, origin: string): Promise<void> {
    const context = page.context();
    if (this.#spoilt.has(context) || page.isClosed() || !(await cleaned(page, origin))) await context.close();
    else this.#clean.push(page);
  }

  async #usable(options: BrowserContextOptions): Promise<Page | undefined> {
    return Object.keys(options).every((name) => LOOKS.some((look) => look === name))
      ? this.#clean.pop()
      : undefined;
  }

  async #made(options: BrowserContextOptions): Promise<Page> {
    const context = await this.#browser.newContext({ ...PLAIN, ...options });
    if (Object.keys(options).length > 0) this.#spoilt.add(context);
    const page = await context.newPage();
    for (const target of [page, context] as unknown as Record<string, unknown>[])
      for (const name of LASTING) this.#spoilsBy(target, name, context);
    return page;
  }

  #spoilsBy(target: Record<string, unknown>, name: string, context: BrowserContext): void {
    const does = target[name];
    if (typeof does !== "function") return;
    target[name] = (...args: unknown[]) => {
      this.#spoilt.add(context);
      return does.apply(target, args);
    };
  }

  async #dress(page: Page, { viewport, colorScheme, reducedMotion, forcedColors, contrast }: Looks) {
    this.#looks.set(page.context(), {
      viewport,
      colorScheme,
      reducedMotion,
      forcedColors,
      contrast,
    } as Looks);
    await page.setViewportSize(viewport ?? PLAIN.viewport);
    await page.emulateMedia({
      colorScheme: colorScheme ?? "light",
      reducedMotion: reducedMotion ?? PLAIN.reducedMotion,
      forcedColors: forcedColors ?? null,
      contrast: contrast ?? null,
    });
  }
}

async function cleaned(page: Page, origin: string): Promise<boolean> {
  try {
    page.removeAllListeners();
    page.on("dialog", (dialog) => void dialog.accept().catch(() => {}));
    for (const other of page.context().pages()) if (other !== page) await other.close();
    // A document of the same origin without any script: nothing is written after it was cleared.
    await page.goto(`${origin}/healthz`, { timeout: CLEANED_WITHIN_MS });
    await page.evaluate(async () => {
      localStorage.clear();
      sessionStorage.clear();
      for (const { name } of await indexedDB.databases()) if (name) indexedDB.deleteDatabase(name);
    });
    await page.context().clearCookies();
    await page.mouse.move(-1, -1);
    await page.goto("about:blank", { timeout: CLEANED_WITHIN_MS });
    page.removeAllListeners();
    return true;
  } catch {
    // The gateway is gone, or the window is: it is not used again.
    return false;
  }
}
