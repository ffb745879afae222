import { describe, expect, test } from "vitest";
import { Turns } from "./index.js";

/** Work that says when it starts and ends when it is told to. */
function controlled(log: string[], name: string) {
  let end: (error?: Error) => void = () => {};
  const work = () =>
    new Promise<string>((resolve, reject) => {
      log.push(`${name} starts`);
      end = (error) => {
        log.push(`${name} ends`);
        if (error) reject(error);
        else resolve(name);
      };
    });
  return { work, end: (error?: Error) => end(error) };
}

const settle = () => new Promise((next) => setImmediate(next));

describe("turns", () => {
  test("[BAS20] what shares a key runs one after the other, in the order it was asked for", async () => {
    const [turns, log] = [new Turns(), [] as string[]];
    const jobs = ["a", "b", "c"].map((name) => controlled(log, name));
    const results = jobs.map((job) => turns.run("key", job.work));
    for (const job of jobs) {
      await settle();
      job.end();
    }
    expect(await Promise.all(results)).toEqual(["a", "b", "c"]);
    expect(log).toEqual(["a starts", "a ends", "b starts", "b ends", "c starts", "c ends"]);
  });

  test("[BAS21] different keys do not wait for each other", async () => {
    const [turns, log] = [new Turns(), [] as string[]];
    const [slow, quick] = [controlled(log, "slow"), controlled(log, "quick")];
    const waiting = turns.run("one", slow.work);
    const other = turns.run("two", quick.work);
    await settle();
    quick.end();
    expect(await other).toBe("quick");
    slow.end();
    expect(await waiting).toBe("slow");
    expect(log).toEqual(["slow starts", "quick starts", "quick ends", "slow ends"]);
  });

  test("[BAS22] work that fails fails alone; the next has its turn", async () => {
    const turns = new Turns();
    const outcomes = await Promise.allSettled([
      turns.run("key", async () => Promise.reject(new Error("later"))),
      turns.run("key", () => {
        throw new Error("at once");
      }),
      turns.run("key", async () => "fine"),
    ]);
    expect(outcomes.map((each) => (each.status === "rejected" ? each.reason.message : each.value))).toEqual([
      "later",
      "at once",
      "fine",
    ]);
  });

  test("[BAS23] work with several keys waits for each of them, and is waited for under each", async () => {
    const [turns, log] = [new Turns(), [] as string[]];
    const jobs = { one: controlled(log, "one"), two: controlled(log, "two"), both: controlled(log, "both") };
    const after = controlled(log, "after");
    const results = [
      turns.run("1", jobs.one.work),
      turns.run("2", jobs.two.work),
      turns.run(["1", "2"], jobs.both.work),
      turns.run("2", after.work),
    ];
    for (const job of [jobs.two, jobs.one, jobs.both, after]) {
      await settle();
      job.end();
    }
    await Promise.all(results);
    expect(log).toEqual([
      "one starts",
      "two starts",
      "two ends",
      "one ends",
      "both starts",
      "both ends",
      "after starts",
      "after ends",
    ]);
  });
});
