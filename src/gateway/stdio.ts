import type { Readable, Writable } from "node:stream";
import { Connection, type ConnectionDeps } from "./connection.js";
import { tooLarge } from "./rpc/errors.js";
import { decodeMessage } from "./rpc/message.js";

const LINE_END = 0x0a;

/** Serves one client over a pair of streams, a message a line. Resolves when the input ends and all is answered. */
export async function serveStdio(deps: ConnectionDeps, input: Readable, output: Writable): Promise<void> {
  output.on("error", () => input.destroy());
  const connection = new Connection(deps, {
    send: (text, sent) => void output.write(`${text}\n`, () => sent()),
    close: () => input.destroy(),
  });
  try {
    for await (const line of linesOf(input, deps.limits.messageBytes)) {
      if (line === undefined) connection.refuse(tooLarge(deps.limits.messageBytes));
      else receive(line, connection);
      await connection.ready();
    }
  } catch {
    // The other end went away in the middle: what it asked is still carried out.
  }
  await connection.idle();
  connection.closed();
}

function receive(line: Uint8Array, connection: Connection): void {
  const message = decodeMessage(line);
  if ("error" in message) connection.refuse(message.error);
  else if (message.text.trim() !== "") connection.receive(message.text);
}

/** The lines of a stream; undefined for one past the limit, whose bytes are thrown away as they come. */
async function* linesOf(input: Readable, limit: number): AsyncGenerator<Uint8Array | undefined> {
  let parts: Uint8Array[] = [];
  let size = 0;
  const add = (bytes: Uint8Array) => {
    size += bytes.length;
    if (size <= limit) parts.push(bytes);
    else parts = [];
  };
  const end = () => {
    const line = size > limit ? undefined : Buffer.concat(parts);
    parts = [];
    size = 0;
    return line;
  };
  for await (const chunk of input as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      yield end();
    }
    add(chunk.subarray(from));
  }
  if (size > 0) yield end();
}
