import { ChevronDown, ChevronRight, Ellipsis, Pin, ScrollText } from "lucide-react";
import { type CSSProperties, memo, type ReactNode } from "react";
import { agentName, dyeOf, useAgent } from "../../state/agents.js";
import { ROOT, useFolder, useThread, useTree } from "../../state/tree.js";
import { AgentTick } from "../../ui/agent-tick.js";
import { count, counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { type Mark, StateMark } from "../../ui/state-mark.js";
import type { DropLook } from "./drop.js";
import { RenameField } from "./rename-field.js";
import type { Row } from "./rows.js";

interface RowProps {
  readonly row: Row;
  readonly at: number;
  readonly top: number;
  readonly mark: Mark | undefined;
  /** Its own place in the order of tabs: one row of the tree has it. */
  readonly tab: boolean;
  /** Main shows it. */
  readonly current: boolean;
  /** Main shows it, or did before the tree came in its place, or it was picked. */
  readonly selected: boolean;
  readonly picked: boolean;
  readonly renaming: boolean;
  readonly drop: DropLook | undefined;
}

const WORDS: Readonly<Record<Mark, string>> = {
  running: "running",
  waiting: "waiting for you",
  queued: "queued",
  new: "new answer",
  failed: "failed",
};

/** One row of the tree. Clicks, keys and drags are the tree's: it tells the row by `data-at`. */
export const TreeRow = memo(function TreeRow(props: RowProps) {
  const { row } = props;
  if (row.kind === "thread") return <ThreadRow {...props} />;
  if (!("held" in row)) return <DocRow {...props} />;
  return row.kind === "agent" ? <AgentRow {...props} row={row} /> : <FolderRow {...props} row={row} />;
});

type Holder = Extract<Row, { held: number }>;

function ThreadRow(props: RowProps) {
  const { row, mark } = props;
  const thread = useThread(row.id);
  const agent = useAgent(thread?.agent_id);
  if (!thread) return null;
  const pinned = thread.pinned_at !== undefined;
  const facts = [agentName(agent, thread.agent_id), mark && WORDS[mark], pinned && "pinned"];
  const unread = mark === "waiting" || mark === "new" || mark === "failed";
  return (
    <Frame
      {...props}
      name={thread.title}
      facts={facts}
      className={unread ? "unread" : ""}
      glyph={<AgentTick agentId={thread.agent_id} />}
    >
      {pinned && !mark && (
        <span className="m">
          <Icon of={Pin} size={12} />
        </span>
      )}
      {mark && <StateMark mark={mark} silent />}
    </Frame>
  );
}

function DocRow(props: RowProps) {
  const doc = useTree((tree) => tree.docs.get(props.row.id));
  const folder = useFolder(props.row.id);
  const state = doc ? (doc.status === "draft" ? "draft" : `v${doc.version}`) : "new";
  const facts = [state, props.row.id === ROOT ? "of the root" : `of ${folder?.name ?? ""}`];
  return (
    <Frame
      {...props}
      name="AGENTS.md"
      facts={facts}
      className="doc"
      glyph={<Icon of={ScrollText} size={14} />}
    >
      <span className="m">{state}</span>
    </Frame>
  );
}

function FolderRow(props: RowProps & { readonly row: Holder }) {
  const { row, mark } = props;
  const folder = useFolder(row.id);
  if (!folder) return null;
  return (
    <Frame
      {...props}
      name={folder.name}
      facts={row.open ? [] : [counted(row.held, "thread"), mark && WORDS[mark]]}
      className="folder"
      glyph={<Icon of={row.open ? ChevronDown : ChevronRight} size={12} />}
    >
      <Held {...props} />
    </Frame>
  );
}

function AgentRow(props: RowProps & { readonly row: Holder }) {
  const { row, mark } = props;
  const agent = useAgent(row.id);
  const { className, style } = dyeOf(agent, row.id);
  return (
    <Frame
      {...props}
      name={agentName(agent, row.id)}
      facts={[counted(row.held, "thread"), !row.open && mark && WORDS[mark]]}
      className={`folder agent ${className}`}
      dye={style}
      glyph={<Icon of={row.open ? ChevronDown : ChevronRight} size={12} />}
    >
      <Held {...props} />
    </Frame>
  );
}

/** What a closed row holds: how many, and the mark that matters most. */
function Held({ row, mark }: RowProps & { readonly row: Holder }) {
  if (row.open) return null;
  return (
    <>
      {mark && <StateMark mark={mark} silent />}
      {row.held > 0 && <span className="m">{count(row.held)}</span>}
    </>
  );
}

interface FrameProps extends RowProps {
  readonly name: string;
  readonly facts: readonly (string | false | undefined)[];
  readonly className: string;
  readonly glyph: ReactNode;
  /** The colour of an agent that is none of ours. */
  readonly dye?: CSSProperties | undefined;
  readonly children?: ReactNode;
}

function Frame(props: FrameProps) {
  const { row, at, top, tab, name, glyph, renaming, children } = props;
  const holder = "open" in row ? { "aria-expanded": row.open } : {};
  const style = { transform: `translateY(${top}px)`, "--d": row.depth, ...props.dye } as CSSProperties;
  const movable = row.kind === "thread" || row.kind === "folder";
  return (
    <div
      role="treeitem"
      aria-label={[name, ...props.facts].filter(Boolean).join(", ")}
      aria-level={row.depth + 1}
      aria-setsize={row.setSize}
      aria-posinset={row.posInSet}
      aria-selected={props.selected}
      aria-current={props.current ? "page" : undefined}
      {...holder}
      tabIndex={tab ? 0 : -1}
      className={classOf(props)}
      style={style}
      data-at={at}
      draggable={movable && !renaming}
    >
      <Guides depth={row.depth} />
      <span className="g">{glyph}</span>
      {renaming ? (
        <RenameField rowKey={row.key} name={name} />
      ) : (
        <span className="t" title={name}>
          {name}
        </span>
      )}
      {!renaming && <> {children}</>}
      {!renaming && (
        <button type="button" className="more" data-more tabIndex={-1} aria-label={`Actions for ${name}`}>
          <Icon of={Ellipsis} size={14} />
        </button>
      )}
    </div>
  );
}

function classOf({ className, selected, picked, drop }: FrameProps): string {
  const parts = ["tr", className, selected && "sel", picked && "picked", drop && `drop-${drop}`];
  return parts.filter(Boolean).join(" ");
}

function Guides({ depth }: { readonly depth: number }) {
  return Array.from({ length: depth }, (_, n) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a guide is nothing but its place
    <span key={n} className="guide" style={{ "--n": n } as CSSProperties} />
  ));
}
