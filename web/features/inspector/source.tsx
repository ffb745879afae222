import type { Manifest } from "../../../src/protocol/index.js";
import { agentName, useAgent } from "../../state/agents.js";
import type { ThreadRoute } from "../../state/router.js";
import { docName, useThread, useTree } from "../../state/tree.js";
import { count, counted } from "../../ui/format.js";
import { Link } from "../../ui/link.js";
import { documentsOf, type SourceDocument } from "./compare.js";
import { useBlobText } from "./data.js";
import { offeredIn, type Row, refusedIn, type Section, type Told, textOf } from "./told.js";

interface SourceProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly row: Row;
}

/** Where a row's text comes from, as a link to that version where there is one. */
export function Source({ route, told, row }: SourceProps) {
  const { manifest } = told;
  if (row.kind === "history") return <>{historyWords(manifest)}</>;
  if (row.kind === "definitions") return <>{counted(offeredIn(manifest).length, "schema")} beside the text</>;
  const { section } = row;
  if (!section) return null;
  if (section.source.kind !== "hook") return <BaseSource route={route} section={section} />;
  if (section.id === "tools") return <>{toolWords(manifest)}</>;
  const [document] = documentsOf(section);
  if (section.id === "agents_md" && document) return <DocSource route={route} document={document} />;
  if (document) return <>{documentsOf(section).map(nameOf).join(", ")}</>;
  if (section.id === "message_context") return <>artifacts plugin</>;
  if (section.id in COUNTS) return <Counted told={told} section={section} />;
  return <>{String(section.source.hook_id)}</>;
}

function historyWords({ history, dropped = [] }: Manifest): string {
  const all = history.messages + dropped.length;
  return dropped.length === 0
    ? counted(history.messages, "message")
    : `${count(history.messages)} of ${counted(all, "message")}`;
}

function toolWords(manifest: Manifest): string {
  const [offered, refused] = [offeredIn(manifest).length, refusedIn(manifest).length];
  return refused === 0 ? `${count(offered)} offered` : `${count(offered)} offered, ${count(refused)} refused`;
}

function nameOf({ id, version }: SourceDocument): string {
  return version === undefined ? id : `${id} v${version}`;
}

/** `Backend/AGENTS.md v3`, also after it was moved; one that was deleted has no place to go to. */
function DocSource({ route, document }: { readonly route: ThreadRoute; readonly document: SourceDocument }) {
  const doc = useTree(({ docs }) => [...docs.values()].find(({ id }) => id === document.id));
  const name = useTree((tree) => docName(tree, doc?.folder_id));
  const thread = useThread(route.thread);
  if (!doc) return <>AGENTS.md v{document.version}, deleted since</>;
  const to = { view: "doc" as const, ws: route.ws, folder: doc.folder_id, version: document.version };
  const inherited = thread && (thread.folder_id ?? undefined) !== doc.folder_id;
  return (
    <>
      <Link to={to}>
        {name} v{document.version}
      </Link>
      {inherited && ", inherited"}
    </>
  );
}

function BaseSource({ route, section }: { readonly route: ThreadRoute; readonly section: Section }) {
  const { kind, agent_id, generated, pack, version, ref } = section.source;
  const id = typeof agent_id === "string" ? agent_id : "";
  const agent = useAgent(id);
  const settings = { view: "settings" as const, ws: route.ws, section: "agents" };
  if (kind === "agent")
    return (
      <>
        {agentName(agent, id)}, {generated ? "name and description" : <Link to={settings}>systemPrompt</Link>}
      </>
    );
  if (kind === "prompt_pack")
    return (
      <>
        prompt pack {String(pack)},{" "}
        {typeof version === "string" ? <code>{version.slice(0, 8)}</code> : "working tree"}
      </>
    );
  if (kind === "default") return <>Heddle’s own</>;
  return (
    <>
      ref of the {kind === "run_refs" ? "run" : "thread"}, <code>{shortRef(ref)}</code>
    </>
  );
}

/** `sha256:9f2c41d07be8…5a13` */
export function shortRef(ref: string): string {
  return ref.length > 30 ? `${ref.slice(0, 19)}…${ref.slice(-4)}` : ref;
}

const COUNTS: Readonly<Record<string, (text: string) => string>> = {
  artifact_items: (text) => ofAll(text, "item"),
  artifact_panels: (text) => `${ofAll(text, "panel")} open`,
  skills: (text) => ofAll(text, "skill"),
  agents: (text) => namesIn(text),
};

/** What a list of Heddle's own holds, by its lines: those that had no room are counted in it. */
function Counted({ told, section }: { readonly told: Told; readonly section: Section }) {
  const text = useSectionText(told, section);
  return <>{text === undefined ? " " : COUNTS[section.id]?.(text)}</>;
}

function ofAll(text: string, one: string): string {
  const listed = text.match(/^- /gm)?.length ?? 0;
  const more = [...text.matchAll(/^… and ([\d,]+) more/gm)].reduce(
    (sum, [, digits = "0"]) => sum + Number(digits.replaceAll(",", "")),
    0,
  );
  return more === 0 ? counted(listed, one) : `${count(listed)} of ${counted(listed + more, one)}`;
}

function namesIn(text: string): string {
  const names = [...text.matchAll(/^- ([^:\n]+)(?:: (.*?))?(?: - .*)?$/gm)].map(([, id, name]) => name || id);
  return names.join(", ");
}

/** A section's words: a preview has them with it, those that were sent are kept under their hash. */
export function useSectionText(told: Told, section: Section | undefined): string | undefined {
  const inside = section && told.messages?.filter(({ section_id }) => section_id === section.id);
  const { data } = useBlobText(inside ? undefined : section?.source.ref);
  return inside ? inside.map(({ content }) => textOf(content)).join("\n\n") : data;
}
