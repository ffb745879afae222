import { type KeyboardEvent, useId, useState } from "react";
import type { Agent, Thread } from "../../../src/protocol/index.js";
import { useAgents } from "../../state/agents.js";
import { draftOf, setDraft } from "../../state/drafts.js";
import { addressable, mentionAt, withoutMention } from "./mention.js";
import { optionId } from "./mention-list.js";

/** The list that an `@` opens: what it shows, and what keys do while it is open. */
export function useMention(thread: Thread, text: string) {
  const id = useId();
  const { list } = useAgents();
  const [caret, setCaret] = useState(0);
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState<number | undefined>();
  const mention = mentionAt(text, caret);
  const agents = mention ? addressable(list, thread.agent_id, mention.query) : [];
  const open = mention !== undefined && mention.from !== closedFor && agents.length > 0;
  const chosen = agents[Math.min(at, agents.length - 1)];
  const choose = (agent: Agent) => {
    if (!mention || !agent.available) return;
    setDraft(thread.id, { text: withoutMention(draftOf(thread.id).text, mention), to: agent.agent_id });
    setAt(0);
  };
  const step = (by: number) => setAt((at + by + agents.length) % agents.length);
  const keys: Record<string, () => void> = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter: () => chosen && choose(chosen),
    Tab: () => chosen && choose(chosen),
    Escape: () => setClosedFor(mention?.from),
  };
  return {
    open,
    id,
    agents,
    at: Math.min(at, agents.length - 1),
    setAt,
    choose,
    /** The caret moved: a mention is what stands before it. */
    moved(now: string, to: number) {
      setCaret(to);
      if (mentionAt(now, to)?.from !== closedFor) setClosedFor(undefined);
    },
    /** Whether the list took the key. */
    pressed(event: KeyboardEvent): boolean {
      const act = open && !event.shiftKey ? keys[event.key] : undefined;
      if (!act) return false;
      event.preventDefault();
      act();
      return true;
    },
    field: open
      ? {
          "aria-controls": id,
          "aria-autocomplete": "list" as const,
          "aria-activedescendant": optionId(id, Math.min(at, agents.length - 1)),
        }
      : {},
  };
}
