import { encodeCursor } from "../../src/tree/cursor.js";
import { createdAt, FREQUENT_WORD, idOf, RARE_AGENT, RARE_WORD, USUAL, WHOLE } from "./fill.js";
import type { OpenPlace } from "./place.js";

/** Something that is asked of both stores. */
export interface Question {
  readonly name: string;
  /** Milliseconds that the larger store may take, as a multiple of the smaller one's. */
  readonly atMost?: number;
  /** How often it is asked for one sample, where that is not the usual number. */
  readonly calls?: number;
  ask(place: OpenPlace): Promise<unknown>;
}

const LIMIT = 100;
const workspace_id = WHOLE;
const TWICE = 2;

const middle = ({ threads }: OpenPlace) => Math.floor(threads / 2) + 1;
const threadOf = (place: OpenPlace) => idOf("thread", WHOLE, middle(place));
const folderOf = ({ threads }: OpenPlace) => idOf("folder", WHOLE, Math.floor(threads / 20));

let count = 0;

/** A text that was not there before. */
function fresh(): string {
  return `New ${++count}`;
}

function list(name: string, more: (place: OpenPlace) => object): Question {
  return {
    name: `list, ${name}`,
    atMost: TWICE,
    ask: (place) => place.caller.call("thread/list", { workspace_id, limit: LIMIT, ...more(place) }),
  };
}

export const questions: readonly Question[] = [
  { name: "ping", atMost: TWICE, ask: ({ caller }) => caller.call("ping", {}) },
  list("by updated, first page", () => ({})),
  list("by updated, middle page", (place) => ({ cursor: cursorAt(place) })),
  list("by created, first page", () => ({ order: "created" })),
  list("by created, middle page", (place) => ({ order: "created", cursor: cursorAt(place) })),
  list("one folder", (place) => ({ folder_id: folderOf(place) })),
  list("a rare agent, by created", () => ({ agent_id: RARE_AGENT, order: "created", limit: 10 })),
  list("an agent without threads", () => ({ agent_id: "nobody", order: "created" })),
  list("a part of every title", () => ({ query: "question" })),
  list("a part of one title", (place) => ({ query: `thread ${middle(place)} ` })),
  list("a part of no title", () => ({ query: "zzzz" })),
  {
    name: "list, two characters of no title",
    ask: ({ caller }) => caller.call("thread/list", { workspace_id, limit: LIMIT, query: "zz" }),
    calls: 1,
  },
  {
    name: "thread by its id alone",
    atMost: TWICE,
    ask: (place) => place.caller.call("thread/get", { thread_id: threadOf(place) }),
  },
  {
    name: "search, a word of one message",
    atMost: TWICE,
    ask: ({ caller }) => caller.call("thread/search", { workspace_id, query: RARE_WORD }),
  },
  {
    name: "search, a word of half of them",
    ask: ({ caller }) => caller.call("thread/search", { workspace_id, query: FREQUENT_WORD, limit: 50 }),
    calls: 1,
  },
  {
    name: "runs of a workspace",
    atMost: TWICE,
    ask: ({ caller }) => caller.call("run/list", { workspace_id, limit: 50 }),
  },
  {
    name: "runs of a thread",
    atMost: TWICE,
    ask: (place) => place.caller.call("run/list", { workspace_id, thread_id: threadOf(place), limit: 50 }),
  },
  {
    name: "resolve AGENTS.md",
    atMost: TWICE,
    ask: (place) =>
      place.caller.call("thread/agents_doc/resolve_for_thread", { workspace_id, thread_id: threadOf(place) }),
  },
  {
    name: "save AGENTS.md",
    atMost: TWICE,
    ask: (place) =>
      place.caller.call("thread/agents_doc/save", {
        workspace_id,
        folder_id: folderOf(place),
        content: fresh(),
      }),
  },
  {
    name: "new folder",
    atMost: TWICE,
    ask: (place) =>
      place.caller.call("thread/folder/create", {
        workspace_id,
        parent_folder_id: folderOf(place),
        name: fresh(),
      }),
  },
  {
    name: "rename a folder",
    atMost: TWICE,
    ask: (place) =>
      place.caller.call("thread/folder/rename", { workspace_id, folder_id: folderOf(place), name: fresh() }),
  },
  {
    name: "move a thread",
    atMost: TWICE,
    ask: (place) => {
      const folder_id = ++count % 2 === 0 ? null : folderOf(place);
      return place.caller.call("thread/move", { workspace_id, thread_id: threadOf(place), folder_id });
    },
  },
  {
    name: "new thread, in another workspace",
    atMost: TWICE,
    ask: ({ caller, own }) => caller.call("thread/start", { workspace_id: own, title: "New" }),
  },
  {
    name: "resume from 100 notifications ago",
    atMost: TWICE,
    ask: async ({ caller }) => {
      const { seq } = await caller.ask("subscribe", { workspace_id });
      return caller.call("subscribe", { workspace_id, after_seq: Math.max(0, seq - 100) });
    },
  },
  {
    name: "tree of another workspace with 10,000 threads",
    atMost: TWICE,
    calls: 1,
    ask: ({ caller }) => caller.call("thread/tree", { workspace_id: USUAL }),
  },
  {
    name: "tree of all",
    calls: 1,
    ask: ({ caller }) => caller.call("thread/tree", { workspace_id }),
  },
];

function cursorAt(place: OpenPlace): string {
  return encodeCursor(createdAt(middle(place)), threadOf(place));
}
