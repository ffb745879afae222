import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Script } from "../../../src/providers/index.js";
import { Gates } from "./gates.js";
import { perform } from "./perform.js";
import { errorBody, type Protocol, protocolOf } from "./protocols.js";
import type { ServerTurn } from "./script.js";

export interface ModelServer {
  readonly url: string;
  /** Every request so far, in the order of arrival. */
  readonly requests: readonly RecordedRequest[];
  /** What it plays from now on: turns one by one, or what follows from the body of a request. */
  play(turns: readonly ServerTurn[] | ((body: string) => ServerTurn)): void;
  /** Lets go on what waits at a gate of this name, now and later. */
  open(gate: string): void;
  /** Shuts every gate, for the next test or the next try of the same. */
  shut(): void;
  /** Forgets the requests so far. */
  forget(): void;
  /** Resolves with the request of this number, from 0, when it has arrived. */
  request(index: number): Promise<RecordedRequest>;
  /** Connections that were ever opened. */
  connections(): number;
  close(): Promise<void>;
}

export interface RecordedRequest {
  readonly path: string;
  readonly protocol: Protocol;
  readonly headers: IncomingMessage["headers"];
  /** Exactly the bytes of the body, which are UTF-8. */
  readonly body: string;
  /** Milliseconds of `performance.now()`. */
  readonly at: number;
  /** When the response was over, for whatever reason. */
  readonly closed: Promise<{ readonly at: number; readonly byClient: boolean }>;
}

/** A model server on loopback that speaks four protocols from one script, and remembers what it was asked. */
export async function startModelServer(turns: readonly ServerTurn[] = [], port = 0): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  const arrivals: (() => void)[] = [];
  const gates = new Gates();
  let script: { next(body: string): ServerTurn | undefined } = new Script(turns);
  let connections = 0;
  const server = createServer(async (request, response) => {
    const protocol = protocolOf((request.url ?? "").split("?")[0] ?? "");
    if (!protocol) return administrate(request, response, requests);
    const recorded = { ...record(request, response, protocol), body: await text(request) };
    requests.push(recorded);
    for (const arrived of arrivals.splice(0)) arrived();
    const turn = script.next(recorded.body);
    if (turn) await perform(turn, protocol, response, gates);
    else response.writeHead(400, json).end(JSON.stringify(errorBody(protocol, noTurn)));
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((done) => server.listen(port, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    play: (next) => {
      script = typeof next === "function" ? { next } : new Script(next);
    },
    open: (gate) => gates.open(gate),
    shut: () => gates.shut(),
    forget: () => {
      requests.length = 0;
    },
    async request(index) {
      while (requests.length <= index) await new Promise<void>((done) => arrivals.push(done));
      return requests[index] as RecordedRequest;
    },
    connections: () => connections,
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

const json = { "content-type": "application/json" };
const noTurn = { type: "invalid_request_error", message: "the script has no turn for this request" };

function record(request: IncomingMessage, response: ServerResponse, protocol: Protocol) {
  const closed = new Promise<{ at: number; byClient: boolean }>((done) => {
    response.on("close", () => done({ at: performance.now(), byClient: !response.writableFinished }));
  });
  return { path: request.url ?? "", protocol, headers: request.headers, at: performance.now(), closed };
}

/** For those in another process: what was asked so far. */
function administrate(
  request: IncomingMessage,
  response: ServerResponse,
  requests: readonly RecordedRequest[],
): void {
  if (request.url !== "/requests") response.writeHead(404).end();
  else response.writeHead(200, json).end(JSON.stringify(requests.map(({ closed: _, ...rest }) => rest)));
}
