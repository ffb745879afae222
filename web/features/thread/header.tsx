import { ArrowLeft, CircleAlert, Ellipsis, Layers, PanelRight, Search } from "lucide-react";
import { useState } from "react";
import type { Run, Thread } from "../../../src/protocol/index.js";
import { usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { agentName, useAgent } from "../../state/agents.js";
import { useLink } from "../../state/gateway.js";
import { navigate } from "../../state/router.js";
import { useActiveRun, useThreadRuns } from "../../state/runs.js";
import { folderPath, pathText, useTree } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { elapsed } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { MenuButton } from "../../ui/menu-button.js";
import { StateMark } from "../../ui/state-mark.js";
import { AgentPicker } from "../agents/agent-picker.js";
import { useNow } from "./now.js";
import { usePlace } from "./place.js";
import { threadMenu } from "./thread-menu.js";
import { Title, titleOf } from "./title.js";

interface HeaderProps {
  readonly thread: Thread | undefined;
  onFind(): void;
}

/** Who answers, where this stands, what it is called, and how it goes. It does not move while a run does. */
export function ThreadHeader({ thread, onFind }: HeaderProps) {
  const size = useSize();
  const [renaming, setRenaming] = useState(false);
  if (!thread) return <header className="bar" aria-busy="true" />;
  const rename = () => setRenaming(true);
  const title = (
    <Title thread={thread} editing={renaming} onEdit={rename} onDone={() => setRenaming(false)} />
  );
  const menu = <More thread={thread} onRename={rename} onFind={onFind} />;
  if (size === "narrow" || size === "phone") return <NarrowBar thread={thread} title={title} menu={menu} />;
  return (
    <header className="bar">
      <AgentPicker thread={thread} />
      <span className="vr" />
      <div className="crumbs grow">
        <Crumbs thread={thread} />
        {title}
      </div>
      <State thread={thread} />
      <IconButton icon={Search} label="Find in thread" keys="mod+f" onClick={onFind} />
      {menu}
      <InspectorButton />
    </header>
  );
}

function NarrowBar({
  thread,
  title,
  menu,
}: {
  thread: Thread;
  title: React.ReactNode;
  menu: React.ReactNode;
}) {
  const { ws } = usePlace();
  const size = useSize();
  const { toggleSide, toggleInsp } = usePanes();
  const path = useTree((tree) => pathText(tree, thread.folder_id));
  const phone = size === "phone";
  const back = () => (phone ? navigate({ view: "home", ws }) : toggleSide());
  const context = () =>
    phone ? navigate({ view: "thread", ws, thread: thread.id, pane: "context" }) : toggleInsp();
  return (
    <header className="bar">
      <IconButton icon={ArrowLeft} label="Threads" onClick={back} />
      <div className="two-line grow">
        {title}
        <AgentPicker thread={thread} path={path} />
      </div>
      {menu}
      <IconButton icon={Layers} label="Context" onClick={context} />
    </header>
  );
}

function Crumbs({ thread }: { readonly thread: Thread }) {
  const { ws } = usePlace();
  const tree = useTree();
  return folderPath(tree, thread.folder_id).map(({ id, name }) => (
    <span className="crumb" key={id}>
      <Link className="cut" to={{ view: "folder", ws, folder: id }}>
        {visibleExactly(name)}
      </Link>
      <i aria-hidden="true">/</i>
    </span>
  ));
}

/** The run under way with its time, or that the last one failed. */
function State({ thread }: { readonly thread: Thread }) {
  const run = useActiveRun(thread.id);
  const offline = useLink(({ link }) => link === "offline");
  const last = useThreadRuns(thread.id).findLast(({ status }) => status !== "queued");
  const failed = run === undefined && last?.status === "failed" ? last : undefined;
  // Of a gateway that does not answer nobody knows what still runs.
  if (offline) return null;
  if (run) return <Running run={run} />;
  if (!failed) return null;
  return (
    <span className="state small danger num">
      <Icon of={CircleAlert} size={14} />
      Run {failed.number} failed
    </span>
  );
}

function Running({ run }: { readonly run: Run }) {
  const waiting = run.status === "waiting";
  const now = useNow(!waiting);
  if (waiting)
    return (
      <span className="state small warn">
        <StateMark mark="waiting" silent />
        Waiting for you
      </span>
    );
  return (
    <span className="state small ink-3 num">
      <StateMark mark="running" silent />
      Running {elapsed(now - (run.started_at ?? run.created_at) * 1000)}
    </span>
  );
}

function InspectorButton() {
  const size = useSize();
  const { insp, toggleInsp } = usePanes();
  if (size === "wide" && insp) return null;
  return <IconButton icon={PanelRight} label="Open the inspector" keys="mod+i" onClick={toggleInsp} />;
}

interface MoreProps {
  readonly thread: Thread;
  onRename(): void;
  onFind(): void;
}

function More({ thread, onRename, onFind }: MoreProps) {
  const place = usePlace();
  const size = useSize();
  const agent = useAgent(thread.agent_id);
  const small = size === "narrow" || size === "phone";
  return (
    <MenuButton
      className="ib"
      label="More"
      title="More"
      items={() =>
        threadMenu({
          thread,
          place,
          agent: agentName(agent, thread.agent_id),
          onRename,
          ...(small && { onFind }),
        })
      }
    >
      <Icon of={Ellipsis} />
      <span className="sr">{titleOf(thread)}</span>
    </MenuButton>
  );
}
