export { Gateway } from "./gateway.js";
export type { PageFile, PageFiles } from "./http/page.js";
export type { Limits } from "./limits.js";
export type { Log } from "./log.js";
export { errorCodes } from "./rpc/errors.js";
export type { RunAccess } from "./thread-access.js";
