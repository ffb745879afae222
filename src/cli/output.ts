import { stripVTControlCharacters } from "node:util";
import pc from "picocolors";

/** What a command finds goes to standard output, what is said about it to standard error. */

export const paint = painter(process.stdout);
export const paintErr = painter(process.stderr);

/** Colours on a terminal only, and not where the person does not want them. */
function painter(stream: NodeJS.WriteStream): ReturnType<typeof pc.createColors> {
  const wanted = stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  return pc.createColors(wanted);
}

export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** One line, for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Says something about the result without becoming part of it. */
export function note(...lines: string[]): void {
  process.stderr.write(`${lines.join("\n")}\n`);
}

/** The text of a document: to the letter in a pipe; on a terminal, nothing in it can steer the terminal. */
export function printText(text: string): void {
  if (process.stdout.isTTY !== true) {
    process.stdout.write(text);
    return;
  }
  const shown = text.replace(/[^\n\t]+/g, visible);
  process.stdout.write(shown === "" || shown.endsWith("\n") ? shown : `${shown}\n`);
}

/** Text on one line, with control characters as `^[` and the like. */
export function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (char) => {
    const code = char.charCodeAt(0);
    return code < 0x80 ? `^${String.fromCharCode(code ^ 0x40)}` : `\\x${code.toString(16)}`;
  });
}

export function printTable(heading: readonly string[], rows: readonly (readonly string[])[]): void {
  print(...tableLines(heading, rows));
}

/** Columns side by side under a heading; the last one takes what room it needs. */
export function tableLines(heading: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = heading.map((title, column) =>
    Math.max(width(title), ...rows.map((row) => width(row[column] ?? ""))),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === cells.length - 1 ? cell : pad(cell, widths[column] ?? 0)))
      .join("  ")
      .trimEnd();
  return [paint.dim(line(heading)), ...rows.map(line)];
}

function pad(text: string, to: number): string {
  return text + " ".repeat(Math.max(0, to - width(text)));
}

const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

/** Columns a text takes on a terminal. */
function width(text: string): number {
  let columns = 0;
  for (const char of stripVTControlCharacters(text)) {
    if (/\p{Mn}|\p{Cf}/u.test(char)) continue;
    columns += WIDE.test(char) ? 2 : 1;
  }
  return columns;
}

/** A moment as a person reads it, in their own time zone. */
export function formatTime(unixSeconds: number): string {
  const at = new Date(unixSeconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
