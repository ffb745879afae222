export { appendEvents } from "./append.js";
export { firstBreak, nextEvent } from "./chain.js";
export {
  EMPTY_HEAD,
  type Happening,
  type JournalEvent,
  type JournalHead,
  type WrittenEvent,
} from "./event.js";
export { parseEvent, readEvents, readHead } from "./read.js";
