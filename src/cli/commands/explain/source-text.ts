import type { Manifest } from "../../../protocol/index.js";
import { visible } from "../../output.js";

type Source = Manifest["sections"][number]["source"];

/** Where the text of a section comes from, in words. */
export function sourceText(source: Source): string {
  return visible(WORDS[source.kind](source));
}

const WORDS: Readonly<Record<Source["kind"], (source: Source) => string>> = {
  run_refs: ({ ref }) => `given with the message: ${shortRef(ref)}`,
  thread_refs: ({ ref }) => `the thread's own: ${shortRef(ref)}`,
  prompt_pack: packText,
  agent: ({ agent_id, generated }) =>
    `agent ${word(agent_id)}: ${generated === true ? "its name and description" : "its systemPrompt"}`,
  default: () => "Heddle's own: the thread's agent is not known here",
  hook: hookText,
};

function packText({ pack, version, ref }: Source): string {
  const at = version === undefined ? "from the working tree" : `at commit ${word(version).slice(0, SHORT)}`;
  return `prompt pack ${word(pack)} ${at}: ${shortRef(ref)}`;
}

function hookText({ hook_id, package_id, documents }: Source): string {
  const named = Array.isArray(documents) ? documents.map(documentText) : [];
  return [`hook ${word(hook_id)} of ${word(package_id)}`, ...named].join(", ");
}

function documentText(document: unknown): string {
  const { kind, id, version } = document as { kind?: unknown; id?: unknown; version?: unknown };
  return `${word(kind)} ${word(id)}${version === undefined ? "" : ` version ${word(version)}`}`;
}

function word(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}

const SHORT = 12;

/** Enough of a hash to tell it from others. */
export function shortRef(ref: string): string {
  return `${ref.slice(0, "sha256:".length + SHORT)}…`;
}
