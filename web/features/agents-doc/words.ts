import type { AgentsDocSummary } from "../../../src/protocol/index.js";
import { docName, type Tree } from "../../state/tree.js";

/** `root AGENTS.md v7`, `Backend/AGENTS.md v3`: the thing and its version. */
export function nameInText(tree: Tree, doc: AgentsDocSummary): string {
  return doc.folder_id === undefined
    ? `the root AGENTS.md v${doc.version}`
    : `${docName(tree, doc.folder_id)} v${doc.version}`;
}

export function nameInTitle(tree: Tree, doc: AgentsDocSummary): string {
  const name = nameInText(tree, doc);
  return name.startsWith("the root") ? `R${name.slice(5)}` : name;
}

/** Who saved a version, as a sentence goes on; nothing where nobody said. */
export function byWhom(by: string | undefined, nameOf: (agent: string) => string): string {
  if (by === undefined) return "";
  if (by === "page") return "from the page";
  if (by === "cli") return "from the command line";
  return by.startsWith("agent:") ? `by ${nameOf(by.slice("agent:".length))}` : `by ${by}`;
}

const NUMBERS = ["No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine"];

/** Small numbers as words, at the start of a sentence. */
export function inWords(value: number): string {
  return NUMBERS[value] ?? value.toLocaleString("en-US");
}

/** Characters of plain text to a token, as the gateway estimates it; outside ASCII a character is about one. */
const CHARS_PER_TOKEN = 3.5;

export function aboutTokens(text: string): number {
  let plain = 0;
  let other = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) plain++;
    else if (unit < 0xdc00 || unit > 0xdfff) other++;
  }
  return Math.ceil(plain / CHARS_PER_TOKEN + other);
}
