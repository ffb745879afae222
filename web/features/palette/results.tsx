import { useEffect, useRef } from "react";
import { dyeOf, useAgent } from "../../state/agents.js";
import { shownKeys } from "../../state/commands.js";
import { AgentTick } from "../../ui/agent-tick.js";
import { Icon } from "../../ui/icon.js";
import { StateMark } from "../../ui/state-mark.js";
import { Marked } from "./marked.js";
import type { Group, Row } from "./row.js";
import type { Found } from "./use-groups.js";

interface ResultsProps {
  readonly id: string;
  readonly found: Found;
  readonly text: string;
  readonly active: string | undefined;
  onPoint(id: string): void;
  onChoose(row: Row, beside?: boolean): void;
}

export function Results({ id, found, text, active, onPoint, onChoose }: ResultsProps) {
  const { groups, nothing, notReady } = found;
  return (
    <div className="pal-list thin-scroll">
      {nothing && (
        <p className="pal-note">{text === "" ? "Nothing here yet" : `Nothing matches “${text}”`}</p>
      )}
      <div id={id} role="listbox" aria-label="Results">
        {groups.map((group) => (
          <GroupRows
            key={group.id}
            id={id}
            group={group}
            active={active}
            onPoint={onPoint}
            onChoose={onChoose}
          />
        ))}
      </div>
      {notReady && (
        <p className="pal-note" role="status">
          Search is not ready. Threads are found by their titles.
        </p>
      )}
    </div>
  );
}

interface GroupProps extends Omit<ResultsProps, "found" | "text"> {
  readonly group: Group;
}

function GroupRows({ id, group, active, onPoint, onChoose }: GroupProps) {
  const title = `${id}-group-${group.id}`;
  return (
    <div role="group" aria-labelledby={title}>
      <h3 id={title} role="presentation">
        {group.title}
      </h3>
      {group.rows.map((row) => (
        <Option
          key={row.id}
          id={`${id}-${row.id}`}
          row={row}
          on={row.id === active}
          onPoint={onPoint}
          onChoose={onChoose}
        />
      ))}
      {group.note && (
        <p className="pal-note" role="presentation">
          {group.note}
        </p>
      )}
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly row: Row;
  readonly on: boolean;
  onPoint(id: string): void;
  onChoose(row: Row, beside?: boolean): void;
}

function Option({ id, row, on, onPoint, onChoose }: OptionProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (on) ref.current?.scrollIntoView({ block: "nearest" });
  }, [on]);
  const { off } = row;
  return (
    <div
      ref={ref}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={on}
      aria-disabled={off === undefined ? undefined : true}
      className={`o${on ? " sel" : ""}${off === undefined ? "" : " off"}`}
      onPointerMove={() => on || onPoint(row.id)}
      onPointerDown={(event) => event.preventDefault()}
      onClick={(event) => onChoose(row, event.metaKey || event.ctrlKey)}
    >
      <Gutter row={row} />
      <span className="cut pal-t">
        <Marked text={row.title} words={row.words} />
      </span>
      {row.path && <span className="p cut">{row.path}</span>}
      <span className="grow" />
      {off !== undefined && <span className="p cut pal-why">{off}</span>}
      {row.mark && <StateMark mark={row.mark} />}
      {row.end && <span className="p num cut pal-end">{row.end}</span>}
      {row.keys && <kbd aria-hidden="true">{shownKeys(row.keys)}</kbd>}
      {on && !row.keys && off === undefined && <kbd aria-hidden="true">⏎</kbd>}
    </div>
  );
}

function Gutter({ row }: { readonly row: Row }) {
  if (row.agentId !== undefined) return <Tick agentId={row.agentId} />;
  return <span className="gut ink-3">{row.icon && <Icon of={row.icon} size={14} />}</span>;
}

function Tick({ agentId }: { readonly agentId: string }) {
  const agent = useAgent(agentId);
  const { className, style } = dyeOf(agent, agentId);
  return (
    <span className={`gut ${className}`} style={style}>
      <AgentTick agentId={agentId} />
    </span>
  );
}
