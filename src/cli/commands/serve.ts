import { type Command, InvalidArgumentError } from "commander";
import pc from "picocolors";
import type { App, Listening } from "../../app/index.js";

interface ServeOptions {
  host: string;
  port: number;
  data?: string;
  store: string;
  token?: string;
  open: boolean;
  stdio?: boolean;
  json?: boolean;
}

export function addServe(program: Command): void {
  program
    .command("serve", { isDefault: true })
    .description("start the gateway (what `heddle` alone does)")
    .option(
      "--host <host>",
      "address to listen on; anything but loopback is reachable by others",
      "127.0.0.1",
    )
    .option("--port <port>", "port to listen on; 0 takes a free one", parsePort, 4170)
    .option("--data <dir>", "data directory (default: $XDG_DATA_HOME/heddle or ~/.local/share/heddle)")
    .option("--store <store>", "`sqlite`, or a postgres:// address", "sqlite")
    .option("--token <token>", "the token clients need (default: one kept in the data directory)")
    .option("--no-open", "do not open a browser")
    .option("--stdio", "serve one client over standard input and output, and open no port")
    .option("--json", "print one line of JSON when ready")
    .action(serve);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError("It must be a number from 0 to 65535.");
  return port;
}

async function serve(options: ServeOptions): Promise<void> {
  const { dataDirectory, startApp } = await import("../../app/index.js");
  const dataDir = dataDirectory(options.data, process.env);
  const onTerminal = process.stdout.isTTY === true && !options.json && !options.stdio;
  const logLevel = process.env.HEDDLE_LOG ?? (onTerminal ? "warn" : "info");
  const app = await startApp({ dataDir, store: options.store, logLevel });
  const stop = stopOnSignal(app);
  if (options.stdio) {
    await app.gateway.stdio(process.stdin, process.stdout);
    return stop();
  }
  const { host, port, token } = options;
  const listening = await app.listen({ host, port, token }).catch(async (error) => {
    await app.stop();
    throw error;
  });
  announce(listening, dataDir, options.json === true);
  if (options.open && onTerminal) await (await import("../open-browser.js")).openBrowser(listening.pageUrl());
}

function announce(listening: Listening, dataDir: string, json: boolean): void {
  const { url, port, token } = listening;
  if (json) {
    process.stdout.write(`${JSON.stringify({ ready: true, url, port, token, pid: process.pid })}\n`);
    return;
  }
  const lines = [
    `${pc.bold("Heddle is running")}  ${pc.cyan(listening.pageUrl())}`,
    pc.dim(`data ${dataDir} · in another terminal: heddle tree · stop with Ctrl-C`),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** The first signal stops in good order; a second one at once. */
function stopOnSignal(app: App): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= app.stop();
    return stopping;
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      void stop().then(() => process.exit(0));
    });
  }
  return stop;
}
