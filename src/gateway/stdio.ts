import type { Readable, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { Connection, type ConnectionDeps } from "./connection.js";

/** Serves one client over a pair of streams, a message a line. Resolves when the input ends and all is answered. */
export async function serveStdio(deps: ConnectionDeps, input: Readable, output: Writable): Promise<void> {
  output.on("error", () => input.destroy());
  const connection = new Connection(deps, {
    send: (text, sent) => void output.write(`${text}\n`, sent),
    drained: () =>
      output.writableNeedDrain ? new Promise((resolve) => output.once("drain", resolve)) : Promise.resolve(),
    close: () => input.destroy(),
  });
  try {
    await eachLine(input, deps.limits.messageBytes, connection);
  } catch {
    // The other end went away in the middle: what it asked is still carried out.
  }
  await connection.idle();
  connection.closed();
}

async function eachLine(input: Readable, limit: number, connection: Connection): Promise<void> {
  const decoder = new StringDecoder("utf8");
  let line = "";
  let skipping = false;
  for await (const chunk of input) {
    const parts = (line + decoder.write(chunk as Buffer)).split("\n");
    line = parts.pop() as string;
    for (const part of parts) {
      if (!skipping && part.trim() !== "") connection.receive(part);
      skipping = false;
    }
    if (line.length > limit) {
      // The rest of an endless line is thrown away as it comes, so that it can't fill the memory.
      if (!skipping) connection.refuseTooLarge();
      skipping = true;
      line = "";
    }
  }
  if (!skipping && line.trim() !== "") connection.receive(line);
}
