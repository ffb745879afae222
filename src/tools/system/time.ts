import { z } from "zod";
import { failed } from "../outcome.js";
import { quoted } from "../quoted.js";
import { defineBuiltInTool } from "../tool.js";

const UTC = "UTC";

export const systemTime = defineBuiltInTool({
  name: "system_time",
  title: "Time",
  description: "Tells the time now: ISO 8601, unix seconds and the day of the week.",
  parameters: z.strictObject({
    timezone: z
      .string()
      .max(100)
      .optional()
      .describe(`an IANA name, Europe/Berlin for example; default ${UTC}`),
  }),
  capabilities: [],
  safeToRepeat: true,
  run({ timezone = UTC }, { clock }) {
    const calendar = calendarOf(timezone);
    if (!calendar) {
      return failed(
        `There is no time zone ${quoted(timezone)}. Give an IANA name, Europe/Berlin for example, or leave it out for ${UTC}.`,
      );
    }
    return { status: "completed", output: JSON.stringify(timeIn(calendar, clock.now())) };
  },
});

/** An offset is no name of a zone, and not every Node takes one. */
function calendarOf(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!/^[A-Za-z]/.test(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone, ...FIELDS });
  } catch {
    return undefined;
  }
}

const FIELDS = {
  calendar: "gregory",
  numberingSystem: "latn",
  hourCycle: "h23",
  year: "numeric",
  month: "numeric",
  day: "numeric",
  hour: "numeric",
  minute: "numeric",
  second: "numeric",
  weekday: "long",
} as const;

function timeIn(calendar: Intl.DateTimeFormat, now: number) {
  const unix = Math.floor(now / 1000);
  const parts = new Map(calendar.formatToParts(unix * 1000).map(({ type, value }) => [type, value]));
  const [year = 0, month = 1, ...rest] = (["year", "month", "day", "hour", "minute", "second"] as const).map(
    (type) => Number(parts.get(type)),
  );
  const local = Date.UTC(year, month - 1, ...rest);
  const timezone = calendar.resolvedOptions().timeZone;
  return {
    iso: new Date(local).toISOString().slice(0, -".000Z".length) + offset(timezone, local / 1000 - unix),
    unix,
    weekday: parts.get("weekday"),
    timezone,
  };
}

function offset(timezone: string, seconds: number): string {
  if (timezone === UTC) return "Z";
  const minutes = Math.round(Math.abs(seconds) / 60);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${seconds < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
