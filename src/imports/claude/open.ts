import { PAST_MOST } from "../blocks.js";
import { LineFile, type LineRef } from "../line-file.js";
import { MessageTree, type TreeNode } from "../message-tree.js";
import { type Branch, type FoundSession, Lossy, type SourceSession } from "../session.js";
import { titleOf } from "../title.js";
import { isObject, type Json, kindOf, listOf, objectOf, textOf, timeOf, wordOf } from "../values.js";
import { isSubAgent } from "./find.js";
import { hasRoom, type Kept, kept } from "./kept.js";
import { messagesOf } from "./messages.js";

interface Reading {
  readonly tree: MessageTree<Kept>;
  readonly lossy: Lossy;
  /** The answer that asked for a call last. */
  readonly calls: Map<string, TreeNode<Kept>>;
  readonly answers: Map<string, TreeNode<Kept>>;
  /** The last line of each name. */
  readonly named: Map<string, LineRef>;
  readonly titles: { custom?: string | undefined; ai?: string | undefined; first?: string | undefined };
  meta: Json | undefined;
}

/** A session of Claude Code: lines that name the line before them, several of which make one answer. */
export async function openClaude({ path, id }: FoundSession): Promise<SourceSession> {
  const file = await LineFile.open(path);
  const reading: Reading = {
    tree: new MessageTree(),
    lossy: new Lossy(),
    calls: new Map(),
    answers: new Map(),
    named: new Map(),
    titles: {},
    meta: undefined,
  };
  const sub = isSubAgent(id.split("/").at(-1) ?? "");
  try {
    for await (const { value, ref } of file.lines()) {
      if (!value) reading.lossy.add("lines that can't be read");
      else if (await isThereAlready(reading, value, { ref, file }))
        reading.lossy.add("lines that stand there twice");
      else take(reading, value, { ref, sub });
    }
  } catch (error) {
    await file.close();
    throw error;
  }
  const { tree, lossy, titles, meta = {} } = reading;
  const { ways, leftOut } = tree.ways();
  if (leftOut > 0) lossy.add("branches past the first 200", leftOut);
  if (tree.strays > 0) lossy.add("lines that answer one that is not there", tree.strays);
  return {
    title: titleOf(titles.custom) ?? titleOf(titles.ai) ?? titleOf(titles.first),
    createdAt: timeOf(meta.timestamp),
    version: textOf(meta.version),
    gitBranch: meta.gitBranch === "HEAD" ? undefined : textOf(meta.gitBranch),
    gitCommit: undefined,
    parentId: sub ? id.split("/")[0] : undefined,
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

/** Another line of one name is another message, the same one to the byte is not: it was only written again. */
async function isThereAlready(
  { named }: Reading,
  { uuid }: Json,
  { ref, file }: { readonly ref: LineRef; readonly file: LineFile },
): Promise<boolean> {
  if (typeof uuid !== "string") return false;
  const before = named.get(uuid);
  named.set(uuid, ref);
  return before !== undefined && (await file.isSame(before, ref));
}

function take(reading: Reading, value: Json, line: { ref: LineRef; sub: boolean }): void {
  const { tree, titles, lossy } = reading;
  if (value.type === "custom-title") titles.custom = textOf(value.customTitle) ?? titles.custom;
  else if (value.type === "ai-title") titles.ai = textOf(value.aiTitle) ?? titles.ai;
  else if (value.type === "summary") titles.ai ??= textOf(value.summary);
  const uuid = textOf(value.uuid);
  const parent = parentOf(value);
  if (uuid === undefined) {
    countOther(value, lossy);
    return;
  }
  if (value.timestamp !== undefined) reading.meta ??= value;
  if (value.isSidechain === true && !line.sub) {
    lossy.add("lines of sub-agents that stand within the session");
    tree.alias(uuid, parent);
  } else if (value.type === "user") takeUser(reading, value, { ...line, uuid, parent });
  else if (value.type === "assistant") takeAnswer(reading, value, { ...line, uuid, parent });
  else {
    tree.alias(uuid, parent);
    countOther(value, lossy);
  }
}

interface Line {
  readonly ref: LineRef;
  readonly uuid: string;
  readonly parent: string | null | undefined;
}

/** Behind a summary, the line that was before it is named apart. */
function parentOf({ parentUuid, logicalParentUuid }: Json): string | null | undefined {
  if (typeof parentUuid === "string") return parentUuid;
  if (typeof logicalParentUuid === "string") return logicalParentUuid;
  return parentUuid === null ? null : undefined;
}

function takeUser(reading: Reading, value: Json, { ref, uuid, parent }: Line): void {
  const { tree, calls, lossy, titles } = reading;
  const { content } = objectOf(value.message);
  const blocks = listOf(content).filter(isObject);
  const results = blocks.filter(({ type }) => type === "tool_result");
  let owner: TreeNode<Kept> | undefined;
  for (const { tool_use_id } of results) {
    const asked = calls.get(wordOf(tool_use_id));
    if (asked) keepResult(asked.data, wordOf(tool_use_id), ref, lossy);
    else lossy.add("results of calls that are not there");
    owner ??= asked;
  }
  const isSaid = typeof content === "string" ? content !== "" : blocks.length > results.length;
  if (!isSaid || value.isMeta === true) {
    if (value.isMeta === true) lossy.add("notes that Claude Code adds for the model");
    tree.alias(uuid, parent, owner);
    return;
  }
  if (value.isCompactSummary !== true) titles.first ??= firstText(content);
  const data = kept([ref]);
  if (owner) tree.addBehind(uuid, owner, data);
  else tree.add(uuid, parent, data);
}

function keepResult(answer: Kept, call: string, ref: LineRef, lossy: Lossy): void {
  const room = hasRoom(answer, ref);
  if (!room) lossy.add(PAST_MOST);
  answer.results.set(call, room ? ref : undefined);
}

function firstText(content: unknown): string | undefined {
  if (typeof content === "string") return titleOf(content);
  const texts = listOf(content).map((block) => titleOf(textOf(objectOf(block).text)));
  return texts.find((text) => text !== undefined);
}

/**
 * Lines of one answer share its id and its request. Results may stand between them, and a line may name a result as the one
 * before it: all of that is the one answer.
 */
function takeAnswer(reading: Reading, value: Json, { ref, uuid, parent }: Line): void {
  const { tree, calls, answers, lossy } = reading;
  const message = objectOf(value.message);
  if (message.model === "<synthetic>" && value.isApiErrorMessage !== true) {
    lossy.add("answers that no model gave");
    tree.alias(uuid, parent);
    return;
  }
  const request = textOf(value.requestRef) ?? textOf(value.requestId);
  const before = tree.at(parent ?? "");
  const key = `${wordOf(message.id)} ${request ?? ""}`;
  const known = request === undefined ? (before?.data.answer === key ? before : undefined) : answers.get(key);
  const node = known ?? tree.add(uuid, parent, kept([], key));
  if (known) tree.alias(uuid, parent, known);
  answers.set(key, node);
  if (!hasRoom(node.data, ref)) {
    lossy.add(PAST_MOST);
    return;
  }
  node.data.lines.push(ref);
  for (const block of listOf(message.content)) {
    if (isObject(block) && block.type === "tool_use") calls.set(wordOf(block.id), node);
  }
}

/** Known by name, or by how Claude Code calls them. */
const OTHERS = new Map([
  ["attachment", "context that Claude Code adds for the model"],
  ["progress", "progress of tools"],
  ["file-history-snapshot", "snapshots of files"],
  ["system", "notices of Claude Code"],
]);
const TITLES = new Set(["custom-title", "ai-title", "summary"]);

function countOther({ type }: Json, lossy: Lossy): void {
  if (TITLES.has(wordOf(type))) return;
  const known = OTHERS.get(wordOf(type));
  if (known) lossy.add(known);
  else lossy.addNamed(`lines of the type ${kindOf(type)}`);
}
