const number = new Intl.NumberFormat("en-US");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const clockSeconds = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const weekday = new Intl.DateTimeFormat("en-GB", { weekday: "short" });
const dayMonth = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const dayMonthYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });

const DAY_MS = 86_400_000;

/** `5,212` */
export function count(value: number): string {
  return number.format(value);
}

/** `1 thread`, `9 threads` */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `0.2 s`, `6 s`, `0:42`, `1:02:05` */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 30_000) return `${Math.round(ms / 1000)} s`;
  return elapsed(ms);
}

/** A running time: `0:42`. */
export function elapsed(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  const two = (part: number) => String(part).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds)}` : `${minutes}:${two(seconds)}`;
}

/** `14:32` today, `Mon 09:12` this week, `2 Nov` this year. */
export function when(unixSeconds: number, now = Date.now()): string {
  const at = new Date(unixSeconds * 1000);
  if (new Date(now).toDateString() === at.toDateString()) return clock.format(at);
  if (now - at.getTime() < 6 * DAY_MS && now > at.getTime())
    return `${weekday.format(at)} ${clock.format(at)}`;
  return new Date(now).getFullYear() === at.getFullYear() ? dayMonth.format(at) : dayMonthYear.format(at);
}

/** `14:32:08` */
export function clockTime(unixSeconds: number): string {
  return clockSeconds.format(new Date(unixSeconds * 1000));
}
