import { memo } from "react";
import { agentName, useAgent } from "../../state/agents.js";
import { useSought } from "../../state/sought.js";
import { useThread } from "../../state/tree.js";
import { SoughtContext } from "../../ui/sought.js";
import type { Item } from "./items.js";
import { Actions } from "./message-actions.js";
import { usePlace } from "./place.js";
import { useReading } from "./reading.js";
import { SystemMessage } from "./system-message.js";
import { Turn } from "./turn.js";
import { UserMessage } from "./user-message.js";

interface ItemProps {
  readonly item: Item;
  readonly index: number;
  /** How many messages there are in all, as far as that is known. */
  readonly of: number;
  /** The only one Tab stops at when no other was chosen. */
  readonly isLast: boolean;
  measure(element: HTMLElement | null): void;
}

/** A message in the list: one tab stop for all of them, arrows between them. */
export const ItemView = memo(function ItemView({ item, index, of, isLast, measure }: ItemProps) {
  const { thread } = usePlace();
  const hit = useReading((reading) => reading.hit === item.key);
  const words = useSought((sought) => (sought.message === item.key ? sought.words : ""));
  const tab = useReading(({ current }) =>
    current === item.key || (current === undefined && isLast) ? 0 : -1,
  );
  const agent = useThread(thread)?.agent_id ?? "";
  const name = agentName(useAgent(agent), agent);
  const who = item.kind === "user" ? "You" : item.kind === "system" ? "System" : name;
  return (
    <article
      ref={measure}
      className="item"
      data-index={index}
      data-item={item.key}
      data-kind={item.kind}
      data-hit={hit || undefined}
      aria-label={who}
      aria-posinset={of > 0 ? index + 1 : undefined}
      aria-setsize={of > 0 ? of : undefined}
      tabIndex={tab}
      onFocus={() => useReading.setState({ current: item.key })}
    >
      <SoughtContext value={words}>
        {item.kind === "user" && <UserMessage message={item.message} />}
        {item.kind === "system" && <SystemMessage message={item.message} />}
        {(item.kind === "turn" || item.kind === "run") && <Turn item={item} />}
      </SoughtContext>
      <Actions item={item} asked={item.kind === "user" ? item.key : undefined} />
    </article>
  );
});
