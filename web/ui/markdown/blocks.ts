const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const LIST = /^ {0,3}([-*+]|\d{1,9}[.)])(\s|$)/;
const DEFINITION = /^ {0,3}\[[^\]\n]{1,200}\]:\s*\S.*$/;

export interface Block {
  readonly text: string;
  /** A fence that is still open: what comes belongs to it. */
  readonly open: boolean;
}

/**
 * The top-level blocks of a Markdown text, cut so that text that is added at the end changes only the last of them. What is
 * finished need never be parsed again.
 */
export function blocksOf(text: string): Block[] {
  const cutter = new Cutter();
  for (const line of text.split("\n")) cutter.take(line);
  const found = cutter.end();
  const { definitions } = cutter;
  return definitions.length === 0 ? found : found.map((block) => withDefinitions(block, definitions));
}

class Cutter {
  readonly definitions: string[] = [];
  readonly #found: Block[] = [];
  #lines: string[] = [];
  #fence: string | undefined;
  #blank = false;

  take(line: string): void {
    if (this.#fence !== undefined) this.#fenced(line, this.#fence);
    else if (line.trim() === "") {
      this.#blank = true;
      this.#lines.push(line);
    } else this.#plain(line);
  }

  end(): Block[] {
    this.#close(this.#fence !== undefined);
    return this.#found;
  }

  #fenced(line: string, fence: string): void {
    this.#lines.push(line);
    if (!closes(line, fence)) return;
    this.#fence = undefined;
    if (!isList(this.#lines)) this.#close();
  }

  #plain(line: string): void {
    if (this.#blank && !goesOn(this.#lines, line)) this.#close();
    this.#blank = false;
    if (DEFINITION.test(line)) this.definitions.push(line);
    const [, mark, info] = FENCE.exec(line) ?? [];
    if (mark !== undefined && !(mark.startsWith("`") && info?.includes("`"))) {
      if (!isList(this.#lines)) this.#close();
      this.#fence = mark;
    }
    this.#lines.push(line);
  }

  #close(open = false): void {
    if (this.#lines.some((line) => line.trim() !== ""))
      this.#found.push({ text: this.#lines.join("\n"), open });
    this.#lines = [];
  }
}

function closes(line: string, fence: string): boolean {
  const mark = line.trim();
  return mark.length >= fence.length && mark === (fence[0] as string).repeat(mark.length);
}

/** Items of a list and what is indented below them stay together. */
function goesOn(lines: readonly string[], line: string): boolean {
  return isList(lines) ? LIST.test(line) || /^\s{2,}\S/.test(line) : /^(\t| {4,})\S/.test(line);
}

function isList(lines: readonly string[]): boolean {
  const first = lines.find((line) => line.trim() !== "");
  return first !== undefined && LIST.test(first);
}

/** What a link by name leads to may stand in another block. */
function withDefinitions(block: Block, definitions: readonly string[]): Block {
  if (block.open || !block.text.includes("[")) return block;
  const used = definitions.filter((line) => {
    const label = line.slice(line.indexOf("["), line.indexOf("]") + 1);
    return block.text.includes(label) && !block.text.includes(line);
  });
  return used.length === 0 ? block : { ...block, text: `${block.text}\n\n${used.join("\n")}` };
}
