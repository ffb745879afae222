export { archiveDoc } from "./archive.js";
export type { InstructionsFailure } from "./errors.js";
export { followFolders } from "./follow-folders.js";
export { getDoc } from "./get.js";
export { Resolver, resolveForThread } from "./resolve.js";
export { restoreDoc } from "./restore.js";
export { getRevision } from "./revision.js";
export { listRevisions } from "./revisions.js";
export { saveDoc } from "./save.js";
