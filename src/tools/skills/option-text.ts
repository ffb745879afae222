import type { CommandOption } from "./options.js";

const PLACEHOLDERS = { text: "<text>", whole: "<number>", number: "<number>", json: "<json>" } as const;
const MOST_CHOICES = 12;

/** `--text <text>`, as it is written in a usage line. */
export function optionUsage({ name, kind, choices }: CommandOption): string {
  if (name === undefined || kind === "flag") return name ?? "";
  if (kind !== "choice") return `${name} ${PLACEHOLDERS[kind]}`;
  return `${name} <${choices.length > MOST_CHOICES ? "choice" : choices.map(plain).join("|")}>`;
}

/** What stands behind an option in a list of them. */
export function optionRemarks(option: CommandOption): string {
  const { description, required, several, kind, choices, byDefault } = option;
  const remarks = [
    required ? "required" : "",
    several ? "may be repeated" : "",
    kind === "choice" && choices.length > MOST_CHOICES ? `one of ${choices.map(plain).join(", ")}` : "",
    byDefault === undefined ? "" : `default: ${plain(JSON.stringify(byDefault))}`,
  ].filter(Boolean);
  return [plain(description), remarks.length > 0 ? `(${remarks.join("; ")})` : ""].filter(Boolean).join(" ");
}

/** Schemas can be somebody else's: no word of theirs begins a line of ours, or steers a terminal. */
export function plain(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}
