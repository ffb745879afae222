import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RateLimit } from "./limits.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const taken = (limit: RateLimit, tries: number) =>
  Array.from({ length: tries }, () => limit.take()).filter(Boolean).length;

test("[WIRE91] a bucket gives its burst at once, then its rate, and never holds more than its burst", () => {
  const limit = new RateLimit({ rate: 10, burst: 5 });
  expect(taken(limit, 20)).toBe(5);
  vi.advanceTimersByTime(99);
  expect(taken(limit, 20)).toBe(0);
  vi.advanceTimersByTime(1);
  expect(taken(limit, 20)).toBe(1);
  vi.advanceTimersByTime(250);
  expect(taken(limit, 20)).toBe(2);
  vi.advanceTimersByTime(60_000);
  expect(taken(limit, 20)).toBe(5);
});
