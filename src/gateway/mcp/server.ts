import { randomUUID } from "node:crypto";
import type { Server } from "@modelcontextprotocol/server";
import type { InsideDeps } from "../inside/caller.js";
import { internalError, knownError } from "../rpc/errors.js";
import { type Face, inWords } from "./face.js";
import { tellProgress } from "./progress.js";
import type { ServerSdk } from "./sdk.js";

/** One call, for as long as it is under way. */
export interface CallBegun {
  /** Fires when it is not wanted any more. */
  readonly signal: AbortSignal;
  end(): void;
}

interface ServerGiven {
  readonly deps: InsideDeps;
  readonly face: Face;
  /** Throws where there are too many already. */
  begin(id: string | number): CallBegun;
}

/** The protocol's side of a face, for one request. */
export function serverFor(sdk: ServerSdk, { deps, face, begin }: ServerGiven): Server {
  const { instructions } = face;
  const about = { name: "heddle", title: "Heddle", version: deps.domain.version };
  const server = new sdk.Server(about, { capabilities: { tools: {} }, instructions });
  server.setRequestHandler("tools/list", async () => ({ tools: await face.list() }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const stop = tellProgress(context, params._meta?.progressToken);
    let begun: CallBegun | undefined;
    try {
      begun = begin(context.mcpReq.id);
      const signal = AbortSignal.any([context.mcpReq.signal, begun.signal]);
      return await face.call(params.name, params.arguments ?? {}, signal);
    } catch (error) {
      return inWords(wordsFor(deps, error, params.name), true);
    } finally {
      begun?.end();
      stop();
    }
  });
  return server;
}

/** A refusal is an answer that a model can read. What nobody foresaw is logged, and only that it happened is told. */
function wordsFor({ log }: InsideDeps, error: unknown, tool: string): string {
  const known = knownError(error);
  if (known) return known.message;
  const reference = randomUUID();
  log.error({ err: error, reference, tool }, "a call over MCP failed");
  return internalError(reference).message;
}
