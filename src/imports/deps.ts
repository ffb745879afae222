import type { Agents } from "../agents/index.js";
import type { ThreadsDeps } from "../threads/index.js";
import type { SessionPlaces } from "./places.js";

export interface ImportsDeps extends ThreadsDeps {
  readonly agents: Agents;
  /** Where the tools of this machine keep their sessions. */
  readonly sessionPlaces: SessionPlaces;
}
