export { changeConfig, readConfig } from "./config.js";
export type { AtsfFailure } from "./errors.js";
export { GITIGNORE } from "./gitignore.js";
export type { JsonChange } from "./json-text.js";
export { isThreadId } from "./layout.js";
export type { LogPage } from "./log/pager.js";
export type { LogEntry } from "./log/parse.js";
export type { WholeLog } from "./log/read.js";
export {
  type ListedThread,
  type NewThread,
  openProject,
  type Project,
  type ProjectOptions,
} from "./project.js";
export { type Repair, repair } from "./repair.js";
export {
  type Message,
  message,
  type ProjectConfig,
  projectConfig,
  type ThreadEnvelope,
  threadEnvelope,
} from "./schemas.js";
export type { Thread } from "./thread.js";
export { type Problem, validate } from "./validate.js";
export { SPEC_VERSION } from "./version.js";
