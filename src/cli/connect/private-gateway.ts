import { config } from "zod";
import { type App, startApp } from "../../app/index.js";
import { VERSION } from "../../base/index.js";
import { Client, type OpenTransport } from "../../client/node.js";
import { writeHolder } from "./holder.js";
import type { Link } from "./link.js";

/** A gateway within this process, for as long as the command takes; without a port, until an agent runs a command that needs one. */
export async function startPrivate(dataDir: string, takeUpRuns: boolean): Promise<Link> {
  // Most commands use each schema once or twice: to compile it for speed takes longer than that.
  config({ jitless: true });
  const app = await startApp({
    dataDir,
    logLevel: process.env.HEDDLE_LOG ?? "error",
    // A list from half the files would be worse than one that takes a moment.
    firstLookMs: Number.POSITIVE_INFINITY,
    takeUpRuns,
  });
  // Who asks an agent may name one that has to be found first.
  if (takeUpRuns) await app.looked();
  const forget = writeHolder(dataDir);
  const client = new Client({ open: within(app), name: "cli", reconnect: false });
  return {
    client,
    version: VERSION,
    async close() {
      client.close();
      forget();
      await app.stop();
    },
  };
}

function within({ gateway }: App): OpenTransport {
  return (events) => {
    const connection = gateway.connect({
      send: (text, sent) =>
        queueMicrotask(() => {
          events.message(text);
          sent();
        }),
      close: (_code, reason) => events.closed(reason),
    });
    queueMicrotask(() => events.open());
    return { send: (text) => connection.receive(text), close: () => connection.closed() };
  };
}
