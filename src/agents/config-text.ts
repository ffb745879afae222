import { type Node, type ParseError, parseTree, printParseErrorCode } from "jsonc-parser";
import type { HeddleError } from "../base/index.js";
import { agentsError } from "./errors.js";

export type Path = readonly (string | number)[];

/** A configuration as it was read, which knows where each of its values stands. */
export interface ConfigText {
  readonly file: string;
  readonly value: unknown;
  /** The line of a value, or of what should hold it, from 1. */
  lineOf(path: Path): number;
  /** A refusal of the value at a path. The problem completes the sentence that begins with its key. */
  fault(path: Path, problem: string): HeddleError;
}

const DEEPEST = 64;

/** Reads JSON with comments and trailing commas. What a reader of the file could take for something else is refused. */
export function readConfigText(text: string, file: string): ConfigText {
  const lineAt = (offset: number) => text.slice(0, offset).split(/\r\n|\r|\n/).length;
  const refuse = (offset: number, problem: string, path?: Path) => {
    const line = lineAt(offset);
    const key = path && path.length > 0 ? keyText(path) : undefined;
    return agentsError(
      { kind: "config.invalid", file, line, ...(key !== undefined && { key }), problem },
      `${file}:${line}: ${key ?? "The configuration"} ${problem}. Correct it, then try again.`,
    );
  };
  const root = parse(text, refuse);
  const value = readNode(root, { path: [], refuse });
  return {
    file,
    value,
    lineOf: (path) => lineAt(deepest(root, path).offset),
    fault: (path, problem) => refuse(deepest(root, path).offset, problem, path),
  };
}

/** `agents[0].chat.model`. What could play tricks in a terminal is escaped, what is long is cut. */
export function keyText(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    if (!/^[\w$-]{1,64}$/.test(part)) return `${text}[${quoted(part)}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

export function quoted(name: string): string {
  const short = name.length > 64 ? `${name.slice(0, 64)}…` : name;
  return JSON.stringify(short).replace(
    /\p{C}/gu,
    (unseen) => `\\u{${(unseen.codePointAt(0) as number).toString(16)}}`,
  );
}

type Refuse = (offset: number, problem: string, path?: Path) => HeddleError;

function parse(text: string, refuse: Refuse): Node {
  const errors: ParseError[] = [];
  let root: Node | undefined;
  try {
    root = parseTree(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // The parser calls itself for each level, until there is no room for more.
    if (error instanceof RangeError) throw refuse(0, tooDeep);
    throw error;
  }
  const [first] = errors;
  if (first) throw refuse(first.offset, `is not JSON: ${wordsOf(first)}`);
  if (root?.type !== "object") throw refuse(root?.offset ?? 0, "must be an object: { … }");
  return root;
}

const tooDeep = `is nested more than ${DEEPEST} levels deep`;

function wordsOf({ error }: ParseError): string {
  const name = printParseErrorCode(error);
  return parseWords[name] ?? "something unexpected stands there";
}

const parseWords: Readonly<Record<string, string>> = {
  PropertyNameExpected: "the name of a key in double quotes is missing",
  ValueExpected: "a value is missing",
  ColonExpected: "a colon is missing",
  CommaExpected: "a comma is missing",
  CloseBraceExpected: "a closing } is missing",
  CloseBracketExpected: "a closing ] is missing",
  EndOfFileExpected: "there is more after its end",
  UnexpectedEndOfComment: "a comment has no end",
  UnexpectedEndOfString: "a text has no closing quote on its line",
  InvalidEscapeCharacter: "a text has an escape that there is not",
  InvalidUnicode: "a text has an escape that there is not",
  InvalidCharacter: "a text has a control character: write it as an escape",
};

interface Place {
  readonly path: Path;
  readonly refuse: Refuse;
}

function readNode(node: Node, place: Place): unknown {
  if (place.path.length > DEEPEST) throw place.refuse(node.offset, tooDeep);
  const children = node.children ?? [];
  if (node.type === "array") {
    return children.map((item, index) => readNode(item, { ...place, path: [...place.path, index] }));
  }
  return node.type === "object" ? objectOf(children, place) : node.value;
}

/** Of a key that stands twice, a reader may see the other one: for a list of what is denied, that is a hole. */
function objectOf(properties: readonly Node[], place: Place): object {
  const made: Record<string, unknown> = {};
  for (const { offset, children } of properties) {
    const [name, value] = children as [Node, Node];
    const path = [...place.path, name.value as string];
    if (Object.hasOwn(made, name.value)) throw place.refuse(offset, "stands twice in one object", path);
    if (name.value === "__proto__") throw place.refuse(offset, "can't be the name of a key", path);
    made[name.value] = readNode(value, { ...place, path });
  }
  return made;
}

/** How far a path leads, by the key where it has one: a missing key is looked for in what should hold it. */
function deepest(root: Node, path: Path): Node {
  let [node, found] = [root, root];
  for (const part of path) {
    const member = node.children?.find(({ children }, index) =>
      typeof part === "number" ? index === part : children?.[0]?.value === part,
    );
    if (!member) break;
    found = member;
    node = typeof part === "number" ? member : (member.children?.[1] ?? member);
  }
  return found;
}
