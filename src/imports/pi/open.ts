import { blocksOf, identified, MOST_OF_ANSWER, PAST_MOST } from "../blocks.js";
import { messageIdOf } from "../ids.js";
import { LineFile, type LineRef } from "../line-file.js";
import { MessageTree, type TreeNode } from "../message-tree.js";
import { type Branch, type FoundSession, Lossy, type SourceMessage, type SourceSession } from "../session.js";
import { titleOf } from "../title.js";
import { isObject, type Json, kindOf, listOf, objectOf, textOf, timeOf, wordOf } from "../values.js";
import { piMessage } from "./messages.js";

interface Kept {
  readonly ref: LineRef;
  /** Results of its calls, by the ids of the calls; undefined for one that is there and was left out. */
  readonly results: Map<string, LineRef | undefined>;
  /** What it asked of tools. */
  readonly calls: ReadonlySet<string>;
  /** How many bytes its results are. */
  size: number;
}

interface Header {
  version: Json;
  name: string | undefined;
  first: string | undefined;
}

/** A session of pi: a tree of entries, of which messages, summaries and what extensions say become messages. */
export async function openPi({ path, id }: FoundSession): Promise<SourceSession> {
  const file = await LineFile.open(path);
  const [tree, lossy] = [new MessageTree<Kept>(), new Lossy()];
  const header: Header = { version: {}, name: undefined, first: undefined };
  let before: string | undefined;
  try {
    for await (const { value, ref, number } of file.lines()) {
      if (!value) lossy.add("lines that can't be read");
      else if (value.type === "session")
        header.version = Object.keys(header.version).length > 0 ? header.version : value;
      else
        before = take(tree, {
          value,
          ref,
          header,
          lossy,
          entry: textOf(value.id) ?? `line-${number}`,
          before,
        });
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  const { ways, leftOut } = tree.ways();
  if (leftOut > 0) lossy.add("branches past the first 200", leftOut);
  if (tree.strays > 0) lossy.add("entries that answer one that is not there", tree.strays);
  const parent = textOf(header.version.parentSession);
  return {
    title: titleOf(header.name) ?? titleOf(header.first),
    createdAt: timeOf(header.version.timestamp),
    version: undefined,
    gitBranch: undefined,
    gitCommit: undefined,
    parentId: /_([0-9a-f-]{36})\.jsonl$/.exec(parent ?? "")?.[1],
    contentSha256: file.sha256,
    branches: ways.map(
      ({ key, parentKey, nodes }): Branch => ({
        key,
        parentKey,
        messages: () => messagesOf(nodes(), file, { id, lossy }),
      }),
    ),
    lossy,
    close: () => file.close(),
  };
}

interface Taken {
  readonly value: Json;
  readonly ref: LineRef;
  readonly header: Header;
  readonly lossy: Lossy;
  readonly entry: string;
  /** The entry before it: what an entry of the first version answers. */
  readonly before: string | undefined;
}

const SAID = new Set(["user", "assistant", "bashExecution", "custom", "branchSummary", "compactionSummary"]);
const NOTED = new Set(["compaction", "branch_summary", "custom_message"]);

function take(tree: MessageTree<Kept>, { value, ref, header, lossy, entry, before }: Taken): string {
  const parent = "parentId" in value ? (value.parentId as string | null) : (before ?? null);
  const message = objectOf(value.message);
  const isMessage = value.type === "message" && SAID.has(wordOf(message.role));
  if (isMessage || NOTED.has(wordOf(value.type))) {
    tree.add(entry, parent, { ref, results: new Map(), calls: callsIn(message), size: 0 });
    if (message.role === "user") header.first ??= firstText(message);
    return entry;
  }
  tree.alias(entry, parent);
  if (message.role === "toolResult") keepResult(tree.at(entry), message, ref, lossy);
  else if (value.type === "session_info") header.name = textOf(value.name) ?? header.name;
  else countOther(value, lossy);
  return entry;
}

const NAMES = new Map([
  ["model_change", "changes of the model (each answer names its own)"],
  ["thinking_level_change", "changes of the thinking level"],
  ["label", "labels"],
  ["custom", "data of extensions"],
]);

function countOther({ type }: Json, lossy: Lossy): void {
  const known = NAMES.get(wordOf(type));
  if (known) lossy.add(known);
  else lossy.addNamed(`entries of the type ${kindOf(type)}`);
}

function callsIn({ content }: Json): Set<string> {
  const calls = listOf(content).filter((block) => isObject(block) && block.type === "toolCall");
  return new Set(calls.map((block) => textOf(objectOf(block).id) ?? "call"));
}

function firstText({ content }: Json): string | undefined {
  const [block] = blocksOf(content, new Lossy()).filter(({ type }) => type === "text");
  return textOf(block?.text);
}

/** How many messages back a call is looked for. */
const FARTHEST = 1_000;

/** A result belongs to the latest answer before it that asked for it. */
function keepResult(from: TreeNode<Kept> | undefined, message: Json, ref: LineRef, lossy: Lossy): void {
  const id = textOf(message.toolCallId) ?? "call";
  let node = from;
  for (let left = FARTHEST; node && left > 0 && !node.data.calls.has(id); left--) node = node.parent;
  if (!node?.data.calls.has(id)) {
    lossy.add("results of calls that are not there");
    return;
  }
  const { data } = node;
  const room = data.size + ref.length <= MOST_OF_ANSWER;
  if (room) data.size += ref.length;
  else lossy.add(PAST_MOST);
  data.results.set(id, room ? ref : undefined);
}

const LEFT_OUT: Json = { isError: true };

async function* messagesOf(
  nodes: readonly TreeNode<Kept>[],
  file: LineFile,
  { id, lossy }: { id: string; lossy: Lossy },
): AsyncGenerator<SourceMessage> {
  for (const { id: entry, data } of nodes) {
    const results = new Map<string, Json>();
    for (const [call, ref] of data.results)
      results.set(call, ref ? objectOf((await file.read(ref)).message) : LEFT_OUT);
    const made = piMessage(await file.read(data.ref), results, lossy.of(entry));
    const message = identified(messageIdOf("pi", id, entry), made);
    if (message) yield message;
  }
}
