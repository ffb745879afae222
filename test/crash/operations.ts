import type { Acting } from "./act.js";
import { noteDown, saveFolderDoc, saveRootDoc } from "./operations/documents.js";
import { createFolder, deleteFolder, moveFolder, renameFolder } from "./operations/folders.js";
import {
  answerApproval,
  append,
  askFirst,
  cancel,
  delegate,
  say,
  sendAgain,
  steer,
} from "./operations/runs.js";
import * as threads from "./operations/threads.js";

/** Does one thing as a client. Answers false where there was nothing to do it with. */
type Operation = (acting: Acting) => Promise<boolean>;

/** What clients do, and how often. */
export const operations: readonly (readonly [Operation, number])[] = [
  [say, 30],
  [delegate, 7],
  [askFirst, 6],
  [answerApproval, 8],
  [append, 10],
  [steer, 6],
  [cancel, 5],
  [sendAgain, 3],
  [saveRootDoc, 6],
  [saveFolderDoc, 5],
  [noteDown, 5],
  [threads.startThread, 5],
  [threads.startInWorktree, 1.5],
  [threads.removeWorktree, 0.7],
  [threads.changeThread, 4],
  [threads.moveThread, 5],
  [threads.deleteThread, 2],
  [threads.undeleteThread, 4],
  [threads.clearThread, 1],
  [createFolder, 4],
  [renameFolder, 3],
  [moveFolder, 3],
  [deleteFolder, 1],
];
