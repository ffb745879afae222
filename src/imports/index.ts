export type { ImportsFailure } from "./errors.js";
export { importSessions } from "./import-sessions.js";
export { type SessionPlaces, sessionPlaces } from "./places.js";
export { listSources } from "./sources.js";
