import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { createServer, type Server, type Socket, connect as tcpConnect } from "node:net";
import { join } from "node:path";
import { CliHome, type Ended, ended } from "./cli.js";
import type { ServerTurn } from "./model-server/script.js";
import { type ModelServer, startModelServer } from "./model-server/server.js";
import { agentAt, apis } from "./runs.js";

/** A person's home with agents that ask a scripted model. */
export class ModelHome extends CliHome {
  private constructor(
    readonly model: ModelServer,
    readonly config: string,
  ) {
    super();
  }

  static async open(
    agents?: (url: string) => object[],
    turns: readonly ServerTurn[] = [],
  ): Promise<ModelHome> {
    const model = await startModelServer(turns);
    const home = new ModelHome(model, "agents.json");
    const given = agents ?? ((url: string) => [agentAt(url, apis[0])]);
    home.write({ "agents.json": JSON.stringify({ agents: given(model.url) }) });
    return home;
  }

  /** Starts a gateway with these agents. */
  serveAgents(...args: string[]) {
    return this.serve("--config", join(this.cwd, this.config), ...args);
  }

  /** A command that is under way. */
  begin(...args: string[]): UnderWay {
    return new UnderWay(this.spawn(args));
  }

  override async remove(): Promise<void> {
    await super.remove();
    await this.model.close();
  }
}

/** A command that has not ended, and what it has said so far. */
export class UnderWay {
  stdout = "";
  stderr = "";
  readonly ended: Promise<Ended>;
  readonly #look = new Set<() => void>();

  constructor(readonly child: ChildProcess) {
    this.ended = ended(child);
    child.stdin?.on("error", () => {});
    child.stdout?.on("data", (text) => this.#heard("stdout", text));
    child.stderr?.on("data", (text) => this.#heard("stderr", text));
  }

  /** Resolves when something stands in what it said. */
  said(text: string, where: "stdout" | "stderr" = "stdout"): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (!this[where].includes(text)) return;
        this.#look.delete(look);
        resolve();
      };
      this.#look.add(look);
      this.ended.then(
        ({ stdout, stderr }) => reject(new Error(`it ended without '${text}': ${stdout}${stderr}`)),
        reject,
      );
      look();
    });
  }

  #heard(where: "stdout" | "stderr", text: string): void {
    this[where] += text;
    for (const look of [...this.#look]) look();
  }
}

/** A way to a gateway that can be cut: what a network does to a connection. */
export class CuttableWay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #open = true;

  private constructor(target: number) {
    this.#server = createServer((from) => {
      const to = tcpConnect(target, "127.0.0.1");
      for (const socket of [from, to]) {
        this.#sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", () => {
          this.#sockets.delete(socket);
          from.destroy();
          to.destroy();
        });
      }
      if (!this.#open) from.destroy();
      from.pipe(to).pipe(from);
    });
  }

  static async to(port: number): Promise<CuttableWay> {
    const way = new CuttableWay(port);
    await new Promise<void>((done) => way.#server.listen(0, "127.0.0.1", done));
    return way;
  }

  get url(): string {
    const { port } = this.#server.address() as { port: number };
    return `http://127.0.0.1:${port}`;
  }

  cut(): void {
    this.#open = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  mend(): void {
    this.#open = true;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** A model whose answers are said piece by piece, when the test says so. */
export class HeldModel {
  readonly url: string;
  readonly #server: ReturnType<typeof createHttpServer>;
  readonly #asked: ServerResponse[];
  readonly #arrivals: (() => void)[];

  private constructor(
    server: ReturnType<typeof createHttpServer>,
    asked: ServerResponse[],
    arrivals: (() => void)[],
  ) {
    this.#server = server;
    this.#asked = asked;
    this.#arrivals = arrivals;
    this.url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  }

  static async open(): Promise<HeldModel> {
    const asked: ServerResponse[] = [];
    const arrivals: (() => void)[] = [];
    const server = createHttpServer((request, response) => {
      request.resume();
      asked.push(response.writeHead(200, { "content-type": "text/event-stream" }));
      for (const arrived of arrivals.splice(0)) arrived();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return new HeldModel(server, asked, arrivals);
  }

  /** Says something in answer to a request, counted from 0, and ends it if told to. */
  async say(index: number, content: string, { end = false } = {}): Promise<void> {
    while (this.#asked.length <= index) await new Promise<void>((done) => this.#arrivals.push(done));
    const response = this.#asked[index] as ServerResponse;
    const chunk = (choice: object) => response.write(`data: ${JSON.stringify({ choices: [choice] })}\n\n`);
    chunk({ index: 0, delta: { content } });
    if (!end) return;
    chunk({ index: 0, delta: {}, finish_reason: "stop" });
    response.end("data: [DONE]\n\n");
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Writes a configuration where a private gateway finds it. */
export function configureData(home: CliHome, agents: object[]): void {
  writeFileSync(join(home.data, "heddle.config.json"), JSON.stringify({ agents }));
}
