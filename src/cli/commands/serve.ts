import { setTimeout as delay } from "node:timers/promises";
import { type Command, InvalidArgumentError } from "commander";
import type { App, AppOptions, Listening } from "../../app/index.js";
import { isKind } from "../../base/index.js";
import { dataDirectory, readAddress } from "../connect/data-dir.js";
import { heldByCommand } from "../connect/holder.js";
import { PATIENCE_MS, RETRY_MS } from "../connect/patience.js";
import { UsageError } from "../errors.js";
import { DATA_HELP, examples, storeAddress, wholeNumber } from "../options.js";
import { paint, print, printJson } from "../output.js";

interface ServeOptions {
  host: string;
  port: number;
  data?: string;
  config?: string;
  store: string;
  token?: string;
  open: boolean;
  stdio?: boolean;
  json?: boolean;
}

export function addServe(program: Command): void {
  const command = program
    .command("serve")
    .description("start the gateway (what `heddle` alone does)")
    .option(
      "--host <host>",
      "address to listen on; anything but loopback can be reached by others",
      "127.0.0.1",
    )
    .option("--port <port>", "port to listen on; 0 takes a free one", wholeNumber(0, 65_535), 4170)
    .option("--data <dir>", DATA_HELP)
    .option(
      "--config <file>",
      "agents and hooks (default: heddle.config.json in the data directory, if it is there)",
    )
    .option("--store <store>", "`sqlite`, or a postgres:// address", storeAddress, "sqlite")
    .option("--token <token>", "the token clients need (default: one kept in the data directory)", token)
    .option("--no-open", "do not open a browser")
    .option("--stdio", "serve one client over standard input and output, and open no port")
    .option("--json", "print one line of JSON when ready")
    // Taken so that we can say what is wrong: options before a command look like options of this one.
    .allowExcessArguments();
  examples(
    command,
    "heddle",
    "heddle serve --port 0 --no-open",
    "heddle serve --config team.config.json",
    "heddle serve --store postgres://me@localhost/heddle",
  ).action((options: ServeOptions) => {
    const [word] = command.args;
    if (word !== undefined) throw misplaced(word, program);
    return serve(options);
  });
}

function misplaced(word: string, program: Command): UsageError {
  const known = program.commands.some((each) => each.name() === word);
  return new UsageError(
    known
      ? `Options come after the command: heddle ${word} …`
      : `\`heddle serve\` takes no arguments, but got '${word}'`,
  );
}

const SHORTEST_TOKEN = 16;

/** Whoever else can reach the gateway can also guess. */
function assertGuarded({ host, token }: ServeOptions): void {
  const loopback = /^(127\.|localhost$|::1$)/.test(host);
  if (loopback || token === undefined || token.length >= SHORTEST_TOKEN) return;
  throw new UsageError(
    `With --host ${host} the token must have at least ${SHORTEST_TOKEN} characters; leave --token out and one is made`,
  );
}

function token(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw new InvalidArgumentError("It must have at least one character, and only visible ASCII ones.");
}

async function serve(options: ServeOptions): Promise<void> {
  assertGuarded(options);
  const dataDir = dataDirectory(options.data, process.env);
  const onTerminal = process.stdout.isTTY === true && !options.json && !options.stdio;
  const logLevel = process.env.HEDDLE_LOG ?? (onTerminal ? "warn" : "info");
  const { store, config: configFile } = options;
  const app = await startInTurn({ dataDir, store, logLevel, configFile, commandsPort: !options.stdio });
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
  announce(listening, dataDir, options);
  if (options.open && onTerminal) await (await import("../open-browser.js")).openBrowser(listening.pageUrl());
}

/** A command that has the data directory to itself is soon done; a gateway that runs there is not waited for. */
async function startInTurn(options: AppOptions): Promise<App> {
  const { startApp } = await import("../../app/index.js");
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await startApp(options);
    } catch (error) {
      if (!isKind(error, "store.taken") || readAddress(options.dataDir)) throw error;
      if (Date.now() > deadline) throw heldByCommand(options.dataDir);
      await delay(RETRY_MS);
    }
  }
}

function announce(listening: Listening, dataDir: string, { json, data }: ServeOptions): void {
  const { url, port, token } = listening;
  if (json) {
    printJson({ ready: true, url, port, token, pid: process.pid });
    return;
  }
  print(
    `${paint.bold("Heddle is running")}  ${paint.cyan(listening.pageUrl())}`,
    paint.dim(`data ${dataDir} · in another terminal: ${nextCommand(data)} · stop with Ctrl-C`),
  );
}

/** A line that works when it is copied: `npm start` puts no `heddle` on the path, and another directory has to be named. */
function nextCommand(data: string | undefined): string {
  const command = process.env.npm_lifecycle_event === "start" ? "node dist/bin/heddle.js" : "heddle";
  return `${command} tree${data === undefined ? "" : ` --data ${data}`}`;
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
