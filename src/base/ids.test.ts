import { describe, expect, test } from "vitest";
import { idMaker, randomSecret, sha256, systemClock, unixSeconds } from "./index.js";

/** A clock that shows what it is told, and stays at the last. */
function clockShowing(...times: number[]) {
  let at = 0;
  return { now: () => times[Math.min(at++, times.length - 1)] as number };
}

describe("ids", () => {
  test("[BAS30] an id is a prefix and a ULID of the time", () => {
    const makeId = idMaker(clockShowing(Date.UTC(2025, 0, 1)));
    expect(makeId("ws_")).toMatch(/^ws_01JGFJJZ00[0-9A-HJKMNP-TV-Z]{16}$/);
    expect(makeId("")).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
  });

  test("[BAS31] ids sort in the order they were made, within a millisecond and when the clock is set back", () => {
    const start = Date.UTC(2025, 0, 1);
    const back = clockShowing(start, start, start - 60_000, start - 1, start, start + 1, start - 5);
    const makeId = idMaker(back);
    const made = Array.from({ length: 10_000 }, () => makeId("thr_"));
    expect([...made].sort()).toEqual(made);
    expect(new Set(made).size).toBe(made.length);
  });

  test("[BAS32] two makers never give the same id", () => {
    const clock = clockShowing(1_700_000_000_000);
    const makers = [idMaker(clock), idMaker(clock)];
    const made = makers.flatMap((make) => Array.from({ length: 1_000 }, () => make("x_")));
    expect(new Set(made).size).toBe(2_000);
  });

  test("[BAS33] a secret has 256 random bits in characters that need no escaping", () => {
    const secrets = Array.from({ length: 100 }, () => randomSecret());
    expect(new Set(secrets).size).toBe(100);
    for (const secret of secrets) {
      expect(secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(Buffer.from(secret, "base64url").length).toBe(32);
    }
  });
});

describe("time and digests", () => {
  test("[BAS34] unix seconds are whole and rounded down", () => {
    expect(unixSeconds({ now: () => 1_999 })).toBe(1);
    expect(Math.abs(unixSeconds(systemClock) - Date.now() / 1000)).toBeLessThan(2);
  });

  test("[BAS35] a digest is the lowercase hex sha256 of the UTF-8 bytes", () => {
    expect(sha256("")).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    expect(sha256("é🧵")).toBe("df6970490732652e3bffc9831407588ba7971e1d21ae8bc8587921ff8e0553a2");
  });
});
