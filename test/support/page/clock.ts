import type { Page } from "playwright-core";

/** Milliseconds that the page itself has been at work since it was opened: what else the machine does is not in them. */
export async function clockOf(page: Page): Promise<() => Promise<number>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return 1_000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? Number.NaN);
  };
}

export interface Least {
  many: number;
  few: number;
}

/** The least work of so many tries each, in turns: what the machine adds now and then is in none of them. */
export async function leastOf(
  tries: number,
  work: Readonly<Record<keyof Least, () => Promise<number>>>,
): Promise<Least> {
  const least: Least = { many: Number.POSITIVE_INFINITY, few: Number.POSITIVE_INFINITY };
  for (let at = 0; at < tries; at++) {
    least.many = Math.min(least.many, await work.many());
    least.few = Math.min(least.few, await work.few());
  }
  return least;
}
