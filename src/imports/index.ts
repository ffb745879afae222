import type { importSessions as ImportSessions } from "./import-sessions.js";
import type { listSources as ListSources } from "./sources.js";

export type { ImportsFailure } from "./errors.js";
export { type SessionPlaces, sessionPlaces } from "./places.js";

// Every start would pay for what few ever ask for: it is loaded when somebody does.
export const importSessions: typeof ImportSessions = async (...given) =>
  (await import("./import-sessions.js")).importSessions(...given);

export const listSources: typeof ListSources = async (...given) =>
  (await import("./sources.js")).listSources(...given);
