import { type JSONPath, type Node, parseTree } from "jsonc-parser";

/** A value at a path; undefined removes it. */
export interface JsonChange {
  readonly path: JSONPath;
  readonly value: unknown;
}

/**
 * Changes values in a JSON text and leaves every other byte as it is: the order of keys, numbers that a program could not
 * hold, white space, and fields of other programs survive.
 */
export function changeJson(text: string, changes: readonly JsonChange[]): string {
  return changes.reduce(changeOne, text);
}

/** A piece of text put in the place of another. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

function changeOne(text: string, change: JsonChange): string {
  const root = parseTree(text);
  if (!root) throw new Error("a change needs a JSON text");
  const edit = editFor(text, root, change);
  return edit ? text.slice(0, edit.from) + edit.text + text.slice(edit.to) : text;
}

function editFor(text: string, root: Node, { path, value }: JsonChange): Edit | undefined {
  const { node, rest } = deepest(root, path);
  const [next, ...below] = rest;
  if (value === undefined) return rest.length === 0 ? removal(node) : undefined;
  if (next !== undefined && (node.type === "object" || node.type === "array")) {
    return insertion(text, node, next, nested(below, value));
  }
  const written = write(text, nested(rest, value), isLaidOut(text, root), lineIndent(text, node.offset));
  return { from: node.offset, to: endOf(node), text: written };
}

/** How far a path leads into what is there. Of two members with one name the last counts, as for every JSON reader. */
function deepest(root: Node, path: JSONPath): { node: Node; rest: JSONPath } {
  let node = root;
  for (const [index, segment] of path.entries()) {
    const inner = child(node, segment);
    if (!inner) return { node, rest: path.slice(index) };
    node = inner;
  }
  return { node, rest: [] };
}

function child(node: Node, segment: string | number): Node | undefined {
  const children = node.children ?? [];
  if (node.type === "array") return typeof segment === "number" ? children[segment] : undefined;
  if (node.type !== "object") return undefined;
  return children.findLast((property) => property.children?.[0]?.value === segment)?.children?.[1];
}

function nested(path: JSONPath, value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }), value);
}

function removal(node: Node): Edit | undefined {
  const member = node.parent?.type === "property" ? node.parent : node;
  const holder = member.parent;
  if (!holder?.children) return undefined;
  const index = holder.children.indexOf(member);
  const [before, after] = [holder.children[index - 1], holder.children[index + 1]];
  if (after) return { from: member.offset, to: after.offset, text: "" };
  if (before) return { from: endOf(before), to: endOf(member), text: "" };
  return { from: holder.offset + 1, to: endOf(holder) - 1, text: "" };
}

/** A new last member, laid out as its neighbours are. */
function insertion(text: string, holder: Node, key: string | number, value: unknown): Edit {
  const [first] = holder.children ?? [];
  const last = holder.children?.at(-1);
  const own = lineIndent(text, holder.offset);
  const laidOut = first ? /\n/.test(text.slice(holder.offset, first.offset)) : isLaidOut(text, topOf(holder));
  const indent = first && laidOut ? lineIndent(text, first.offset) : own + unitOf(text);
  const name = holder.type === "object" ? `${JSON.stringify(String(key))}${laidOut ? ": " : ":"}` : "";
  const member = name + write(text, value, laidOut, indent);
  const lead = laidOut ? eolOf(text) + indent : "";
  if (last) return { from: endOf(last), to: endOf(last), text: `,${lead}${member}` };
  const tail = laidOut ? eolOf(text) + own : "";
  return { from: holder.offset + 1, to: endOf(holder) - 1, text: lead + member + tail };
}

function write(text: string, value: unknown, laidOut: boolean, indent: string): string {
  if (!laidOut) return JSON.stringify(value);
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", eolOf(text) + indent);
}

function topOf(node: Node): Node {
  return node.parent ? topOf(node.parent) : node;
}

/** Whether a text has a line for each member, as people like to read it. */
function isLaidOut(text: string, root: Node): boolean {
  const [first] = root.children ?? [];
  return first !== undefined && /\n/.test(text.slice(root.offset, first.offset));
}

function unitOf(text: string): string {
  return /^\s*\{\s*?\n([ \t]+)/.exec(text)?.[1] ?? "  ";
}

function eolOf(text: string): string {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

function endOf(node: Node): number {
  return node.offset + node.length;
}
