/** Characters of one line that are shown. */
const MOST_LINE_CHARS = 2_000;
/** Enough bytes for that many characters, whichever they are. */
const MOST_LINE_BYTES = MOST_LINE_CHARS * 4 + 4;
const LINE_END = 0x0a;

export interface Wish {
  readonly from: number;
  /** At most so many lines, and so many bytes of output. */
  readonly lines: number;
  readonly bytes: number;
}

/** The numbered lines of a text that comes in pieces. Nothing but what is shown is kept of it. */
export interface NumberedLines {
  readonly shown: readonly string[];
  /** The line to read on from; undefined when nothing more was seen. */
  readonly next: number | undefined;
  /** A line was too long to be shown whole. */
  readonly lineCut: boolean;
  /** How many lines ended so far, whether or not they are shown. */
  readonly seen: number;
  take(piece: Buffer): void;
  /**
   * Nothing more comes. What follows the last line end is a line too; where the text goes on, only if as much of it was seen
   * as is ever shown.
   */
  end(goesOn: boolean): void;
}

export function numberLines(wish: Wish): NumberedLines {
  const state = { shown: [] as string[], next: undefined as number | undefined, lineCut: false, seen: 0 };
  let line = newLine();
  let used = 0;

  const close = () => {
    const number = state.seen + 1;
    const text = number < wish.from ? undefined : textOf(line, number);
    if (text !== undefined) {
      used += Buffer.byteLength(text) + 1;
      if (used > wish.bytes) {
        state.next = number;
        return;
      }
      state.shown.push(text);
      state.lineCut ||= line.long;
    }
    state.seen = number;
    line = newLine();
  };

  const take = (piece: Buffer) => {
    for (let start = 0; start < piece.length && state.next === undefined; ) {
      if (state.shown.length === wish.lines) {
        state.next = state.seen + 1;
        return;
      }
      const end = piece.indexOf(LINE_END, start);
      const part = piece.subarray(start, end < 0 ? piece.length : end);
      line.begun ||= part.length > 0;
      if (state.seen + 1 >= wish.from) keep(line, part);
      if (end < 0) return;
      close();
      start = end + 1;
    }
  };

  const end = (goesOn: boolean) => {
    if (line.begun && state.next === undefined && (line.long || !goesOn)) close();
  };

  return Object.assign(state, { take, end });
}

interface Line {
  readonly parts: Buffer[];
  bytes: number;
  long: boolean;
  begun: boolean;
}

function newLine(): Line {
  return { parts: [], bytes: 0, long: false, begun: false };
}

/** A copy: the piece is the buffer that the next one is read into. */
function keep(line: Line, part: Buffer): void {
  const room = MOST_LINE_BYTES - line.bytes;
  const kept = Buffer.from(part.subarray(0, room));
  if (kept.length > 0) line.parts.push(kept);
  line.bytes += kept.length;
  line.long ||= part.length > room;
}

function textOf(line: Line, number: number): string {
  const decoded = Buffer.concat(line.parts).toString("utf8");
  const text = number === 1 ? decoded.replace(/^\uFEFF/, "") : decoded;
  const characters = text.length > MOST_LINE_CHARS ? [...text] : [];
  line.long ||= characters.length > MOST_LINE_CHARS;
  if (!line.long) return `${number}\t${text}`;
  const head = characters.slice(0, MOST_LINE_CHARS).join("");
  return `${number}\t${head} [… the line is cut after ${MOST_LINE_CHARS} characters]`;
}
