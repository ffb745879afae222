import { Check, Search } from "lucide-react";
import { type KeyboardEvent, type RefObject, useEffect, useId, useMemo, useRef, useState } from "react";
import type { Agent, Thread } from "../../../src/protocol/index.js";
import { useSize } from "../../shell/size.js";
import { dyeOf, useAgents } from "../../state/agents.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { Marked } from "../palette/marked.js";
import { rank, wordsOf } from "../palette/match.js";
import { folderHere, forkTo, startThread, switchTo } from "./actions.js";
import { AgentFacts } from "./agent-facts.js";
import { ThreadChoices } from "./thread-choices.js";
import "../palette/palette.css";

interface AgentMenuProps {
  readonly thread: Thread;
  readonly anchor: HTMLElement;
  onClose(): void;
}

/** Every agent, what it may use, and what can be done with it from here. */
export default function AgentMenu({ thread, anchor, onClose }: AgentMenuProps) {
  const ref = useRef<HTMLDivElement>(null);
  const [query, setQuery] = useState("");
  const { words, agents } = useFound(query, thread.agent_id);
  const [active, setActive] = useState(thread.agent_id);
  const chosen = agents.find(({ agent_id }) => agent_id === active) ?? agents[0];
  const list = useId();
  useOutside(ref, anchor, onClose);
  const act = (does: () => void) => {
    onClose();
    does();
  };
  const go = (agent: Agent | undefined) => {
    if (!agent || agent.agent_id === thread.agent_id) return onClose();
    if (agent.available) act(() => void switchTo(agent.agent_id));
  };
  const begin = (agent: Agent | undefined) => {
    if (agent?.available) act(() => void startThread({ agent_id: agent.agent_id, folder_id: folderHere() }));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const at = chosen ? agents.indexOf(chosen) : -1;
    const to = stepIn(event.key, at, agents.length);
    if (to !== undefined) setActive(agents[to]?.agent_id ?? "");
    else if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) begin(chosen);
    else if (event.key === "Enter") go(chosen);
    else return;
    event.preventDefault();
  };
  const away = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.key !== "Escape") return;
    event.preventDefault();
    onClose();
  };
  return (
    <div
      ref={ref}
      role="dialog"
      aria-label="Agents"
      className="pal agent-menu"
      style={usePlace(anchor)}
      onKeyDown={away}
    >
      <div className="q-in">
        <Icon of={Search} size={14} />
        <input
          role="combobox"
          aria-label="Find an agent"
          aria-expanded="true"
          aria-controls={list}
          aria-activedescendant={chosen && `${list}-${chosen.agent_id}`}
          autoComplete="off"
          spellCheck={false}
          placeholder="Find an agent"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={keys}
        />
      </div>
      <div className="agent-cols">
        <div id={list} role="listbox" aria-label="Agents" className="agent-list thin-scroll">
          {agents.map((agent) => (
            <AgentOption
              key={agent.agent_id}
              id={`${list}-${agent.agent_id}`}
              agent={agent}
              words={words}
              on={agent === chosen}
              current={agent.agent_id === thread.agent_id}
              onChoose={() => setActive(agent.agent_id)}
              onOpen={() => go(agent)}
            />
          ))}
          {agents.length === 0 && <p className="pal-note">Nothing matches “{query}”</p>}
        </div>
        {chosen && (
          <div className="agent-side thin-scroll" role="region" aria-label={chosen.display_name} tabIndex={0}>
            <AgentFacts agent={chosen} thread={thread} />
            {chosen.agent_id === thread.agent_id && <ThreadChoices agent={chosen} thread={thread} />}
          </div>
        )}
      </div>
      {chosen && (
        <Doing
          agent={chosen}
          thread={thread}
          onGo={() => go(chosen)}
          onBegin={() => begin(chosen)}
          act={act}
        />
      )}
    </div>
  );
}

interface DoingProps {
  readonly agent: Agent;
  readonly thread: Thread;
  onGo(): void;
  onBegin(): void;
  act(does: () => void): void;
}

function Doing({ agent, thread, onGo, onBegin, act }: DoingProps) {
  const off = agent.available ? undefined : (agent.reason ?? "It is not available.");
  const isOther = agent.agent_id !== thread.agent_id;
  const fork = () => act(() => void forkTo(thread.id, agent.agent_id));
  return (
    <footer>
      <Button small keys="mod+enter" off={off} onClick={onBegin}>
        New thread with {agent.display_name}
      </Button>
      {isOther && (
        <Button small kind="quiet" keys="enter" off={off} onClick={onGo}>
          Go to its latest
        </Button>
      )}
      <Button small kind="quiet" off={off ?? whyNotForked(thread)} onClick={fork}>
        Continue in a fork
      </Button>
    </footer>
  );
}

function whyNotForked({ message_count }: Thread): string | undefined {
  return message_count === 0 ? "There is nothing to continue yet." : undefined;
}

interface OptionProps {
  readonly id: string;
  readonly agent: Agent;
  readonly words: readonly string[];
  readonly on: boolean;
  readonly current: boolean;
  onChoose(): void;
  onOpen(): void;
}

function AgentOption({ id, agent, words, on, current, onChoose, onOpen }: OptionProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (on) ref.current?.scrollIntoView({ block: "nearest" });
  }, [on]);
  const { className, style } = dyeOf(agent, agent.agent_id);
  return (
    <div
      ref={ref}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={on}
      aria-current={current || undefined}
      className={`o ${className}${on ? " sel" : ""}`}
      style={style}
      title={agent.available ? undefined : agent.reason}
      onPointerDown={(event) => event.preventDefault()}
      onClick={onChoose}
      onDoubleClick={onOpen}
    >
      <span className="gut">
        <span className={`tick${agent.available ? "" : " off"}`} />
      </span>
      <span className={agent.available ? "label cut" : "cut ink-3"}>
        <Marked text={agent.display_name} words={words} />
      </span>
      <span className="grow" />
      {!agent.available && <span className="p">not available</span>}
      {current && <Icon of={Check} size={14} label="of this thread" />}
    </div>
  );
}

/** Those that are listed, and the thread's own even if it is not; the thread's first. */
function useFound(query: string, own: string) {
  const { list } = useAgents();
  return useMemo(() => {
    const words = wordsOf(query);
    const shown = list
      .filter(({ hidden, agent_id }) => !hidden || agent_id === own)
      .sort((a, b) => order(a, own) - order(b, own));
    const { best } = rank(shown, {
      words,
      most: 200,
      lower: ({ display_name, agent_id }) => `${display_name} ${agent_id}`.toLowerCase(),
    });
    return { words, agents: best };
  }, [list, query, own]);
}

function order({ agent_id, available }: Agent, own: string): number {
  return agent_id === own ? 0 : available ? 1 : 2;
}

function stepIn(key: string, at: number, length: number): number | undefined {
  if (length === 0) return undefined;
  if (key === "ArrowDown") return (at + 1) % length;
  if (key === "ArrowUp") return (at - 1 + length) % length;
  if (key === "Home") return 0;
  return key === "End" ? length - 1 : undefined;
}

/** Closes when something else is pressed; the focus goes to the field, and back in the end. */
function useOutside(ref: RefObject<HTMLDivElement | null>, anchor: HTMLElement, onClose: () => void): void {
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.querySelector("input")?.focus();
    const outside = ({ target }: PointerEvent) => {
      if (target instanceof Node && (ref.current?.contains(target) || anchor.contains(target))) return;
      onClose();
    };
    addEventListener("pointerdown", outside, true);
    return () => {
      removeEventListener("pointerdown", outside, true);
      const back = before instanceof HTMLElement && before !== document.body ? before : anchor;
      if (back.isConnected) back.focus();
    };
  }, [ref, anchor, onClose]);
}

const EDGE = 8;
const WIDTH = 600;

/** Below the button; on a phone along the bottom. */
function usePlace(anchor: HTMLElement): React.CSSProperties {
  const size = useSize();
  if (size === "phone") return { left: EDGE, right: EDGE, bottom: EDGE };
  const box = anchor.getBoundingClientRect();
  const left = Math.max(EDGE, Math.min(box.left - EDGE / 2, innerWidth - WIDTH - EDGE));
  return { left, top: box.bottom + 2 };
}
