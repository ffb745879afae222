import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/**
 * Tells the lines of a stream, ended by line feeds and by nothing else: from version 24 on Node's own reader also ends
 * them at U+2028, which stands in JSON as it is. Answers how to stop listening; `closed` is told once, then too.
 */
export function eachLine(input: Readable, line: (text: string) => void, closed: () => void): () => void {
  const decoder = new StringDecoder("utf8");
  let begun: string[] = [];
  let isClosed = false;
  const hear = (chunk: Buffer | string) => {
    const [first = "", ...more] = (typeof chunk === "string" ? chunk : decoder.write(chunk)).split("\n");
    begun.push(first);
    for (const next of more) {
      const text = begun.join("");
      begun = [next];
      line(text.endsWith("\r") ? text.slice(0, -1) : text);
    }
  };
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    input.off("data", hear);
    const last = begun.join("") + decoder.end();
    if (last !== "") line(last);
    closed();
  };
  input.on("data", hear);
  for (const end of ["end", "close", "error"]) input.once(end, close);
  return close;
}
