import type { SessionPlaces } from "../../imports/index.js";
import type { Resolver } from "../../instructions/index.js";
import type { MethodName, ParsedParams, Result } from "../../protocol/index.js";
import type { RunsDeps } from "../../runs/index.js";
import type { Follower } from "../../threads/index.js";
import type { Panels } from "../../tools/index.js";
import type { Call } from "../../tree/index.js";
import type { Exchange, Peer } from "./peer.js";

export interface Context {
  readonly call: Call;
  readonly peer: Peer;
  readonly exchange: Exchange;
}

export type Handlers = {
  readonly [M in MethodName]: (params: ParsedParams<M>, context: Context) => Promise<Result<M>>;
};

export interface HandlerDeps extends RunsDeps {
  readonly watching: Follower;
  readonly resolver: Resolver;
  readonly panels: Panels;
  readonly sessionPlaces: SessionPlaces;
  readonly version: string;
}
