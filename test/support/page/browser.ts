import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, inject, onTestFinished } from "vitest";
import { ARGS } from "../browser-args.js";
import type { TestGateway } from "../gateway.js";
import { Windows } from "./windows.js";

export const SHOTS = ".cache/screenshots";

export interface OpenOptions extends BrowserContextOptions {
  /** What the page may complain of; everything else fails the test. */
  readonly tolerates?: RegExp;
}

export interface PageBrowser {
  /** A window of its own (nothing stored, signed in), at a path of the page. */
  open(gateway: TestGateway, path?: string, options?: OpenOptions): Promise<Page>;
  /** Another window of the same browser profile: it shares storage and session. */
  again(page: Page, path?: string, tolerates?: RegExp): Promise<Page>;
}

/** One for each worker: to start a browser takes as long as a test. Where no suite follows it is closed: the worker is to end. */
let started: Promise<Browser> | undefined;
let windows: Windows;
let closing: NodeJS.Timeout | undefined;
const NEXT_SUITE_MS = 3_000;

async function startBrowser(): Promise<void> {
  clearTimeout(closing);
  if (started) return void (await started);
  started = chromium.launch({ executablePath: inject("chromium"), args: ARGS });
  windows = new Windows(await started);
}

function leaveBrowser(): void {
  closing = setTimeout(async () => {
    const browser = started;
    started = undefined;
    await (await browser)?.close();
  }, NEXT_SUITE_MS).unref();
}

/** A real browser for a suite. Whatever the page reports as an error, or the policy blocks, fails the test that opened it. */
export function pageBrowser(): PageBrowser {
  let problems: string[] = [];
  beforeAll(startBrowser);
  afterAll(leaveBrowser);
  afterEach(() => {
    const found = problems;
    problems = [];
    expect(found).toEqual([]);
  });
  const watch = (page: Page, tolerates?: RegExp) => {
    const note = (text: string) => tolerates?.test(text) || problems.push(text);
    page.on("pageerror", (error) => note(`${error.message}\n${error.stack ?? ""}`));
    page.on("console", (message) => message.type() === "error" && note(message.text()));
  };
  return {
    async open(gateway, path = "/", { tolerates, ...options } = {}) {
      const page = await windows.take(options);
      onTestFinished(() => windows.giveBack(page, gateway.url));
      watch(page, tolerates);
      const { search } = new URL(gateway.pageUrl());
      await page.goto(`${gateway.url}${path}${search.replace("?", path.includes("?") ? "&" : "?")}`);
      return page;
    },
    async again(page, path = "/", tolerates) {
      const other = await windows.another(page);
      watch(other, tolerates);
      await other.goto(new URL(path, page.url()).href);
      return other;
    },
  };
}

/** Keeps a picture of the page as an artefact of the test run. */
export async function shot(page: Page, name: string): Promise<void> {
  mkdirSync(SHOTS, { recursive: true });
  await page.screenshot({ path: join(SHOTS, `${name}.png`) });
}
