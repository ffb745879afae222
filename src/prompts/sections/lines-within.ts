/** A heading and as many lines as there is room for, in code points; the last one says how many are missing. */
export function linesWithin(heading: string, lines: readonly string[], room: number): string[] {
  const sizes = lines.map((line) => [...line].length + 1);
  const whole = [...heading].length + sizes.reduce((sum, size) => sum + size, 0);
  if (whole <= room) return [heading, ...lines];
  let left = room - [...heading].length - [...moreOf(lines.length)].length - 1;
  const shown = sizes.findIndex((size) => {
    left -= size;
    return left < 0;
  });
  return [heading, ...lines.slice(0, shown), moreOf(lines.length - shown)];
}

function moreOf(missing: number): string {
  return `… and ${missing} more`;
}
