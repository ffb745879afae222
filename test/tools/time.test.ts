import { expect, test } from "vitest";
import { builtInTools } from "../../src/tools/index.js";
import { clockAt, contextWith, registryOf } from "./support.js";

const registry = registryOf(...builtInTools);

async function timeAt(iso: string, given: Record<string, unknown> | string = {}) {
  const { status, output } = await registry.call("system_time", given, contextWith({ clock: clockAt(iso) }));
  expect(status).toBe("completed");
  return JSON.parse(output);
}

test("[TLS20] it tells the time of the context's clock, in UTC", async () => {
  const now = { iso: "2026-03-01T12:00:00Z", unix: 1_772_366_400, weekday: "Sunday", timezone: "UTC" };
  expect(await timeAt("2026-03-01T12:00:00.999Z")).toEqual(now);
  expect(await timeAt("2026-03-01T12:00:00Z", "")).toEqual(now);
  expect(await timeAt("2026-03-01T12:00:00Z", { timezone: null })).toEqual(now);
});

test.each([
  ["2026-03-01T23:30:00Z", "Europe/Berlin", "2026-03-02T00:30:00+01:00", "Monday"],
  ["2026-07-01T12:00:00Z", "europe/berlin", "2026-07-01T14:00:00+02:00", "Wednesday"],
  ["2026-01-01T04:59:59Z", "America/New_York", "2025-12-31T23:59:59-05:00", "Wednesday"],
  ["2026-06-01T00:00:00Z", "America/St_Johns", "2026-05-31T21:30:00-02:30", "Sunday"],
  ["2026-06-01T00:00:00Z", "Asia/Kathmandu", "2026-06-01T05:45:00+05:45", "Monday"],
  ["2026-06-01T11:00:00Z", "Pacific/Kiritimati", "2026-06-02T01:00:00+14:00", "Tuesday"],
  ["2026-03-29T00:59:59Z", "Europe/Berlin", "2026-03-29T01:59:59+01:00", "Sunday"],
  ["2026-03-29T01:00:00Z", "Europe/Berlin", "2026-03-29T03:00:00+02:00", "Sunday"],
  ["2028-02-29T00:00:00Z", "Asia/Tokyo", "2028-02-29T09:00:00+09:00", "Tuesday"],
])("[TLS20] %s in %s is %s", async (now, timezone, iso, weekday) => {
  const unix = Date.parse(now) / 1000;
  expect(await timeAt(now, { timezone })).toMatchObject({ iso, weekday, unix });
  expect(Date.parse(iso) / 1000).toBe(unix);
});

test("[TLS21] a zone that does not exist is a failure that says what to give", async () => {
  for (const timezone of ["Mars/Olympus", "", "+01:00", "UTC+1", "../../etc", "Europe/Berlin\0", "CET1"]) {
    expect(await registry.call("system_time", { timezone }, contextWith())).toMatchObject({
      status: "failed",
      output: `There is no time zone ${JSON.stringify(timezone)}. Give an IANA name, Europe/Berlin for example, or leave it out for UTC.`,
    });
  }
  const long = await registry.call("system_time", { timezone: "x".repeat(1_000_000) }, contextWith());
  expect(long.status).toBe("failed");
  expect(long.output.length).toBeLessThan(500);
});
