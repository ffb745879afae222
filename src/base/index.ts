export { Bus } from "./bus.js";
export { type Clock, systemClock, unixSeconds } from "./clock.js";
export { failures, HeddleError, isKind, plainWords } from "./errors.js";
export { canonicalJson, contentRef, sha256 } from "./hash.js";
export { idMaker, type MakeId, randomSecret } from "./ids.js";
export {
  Allowance,
  BEYOND_US,
  type ChildGiven,
  ChildProblem,
  LineChild,
  onOneLine,
} from "./line-child.js";
export {
  type HeldLock,
  type KernelLock,
  openLock,
  type SqliteDriver,
  type SqliteHandle,
  type SqliteStatement,
  sqliteDriver,
  sqliteErrorCode,
  takeLock,
} from "./lock.js";
export { Lru } from "./lru.js";
export { endGroup, endGroupWithUs, groupLives, HAS_GROUPS } from "./process-group.js";
export { Turns } from "./turns.js";
export { VERSION } from "./version.js";
