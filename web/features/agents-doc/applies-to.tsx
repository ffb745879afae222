import { useQuery } from "@tanstack/react-query";
import { Folder } from "lucide-react";
import { useMemo, useState } from "react";
import type { Thread } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { useActiveRun } from "../../state/runs.js";
import { useTree } from "../../state/tree.js";
import { AgentTick } from "../../ui/agent-tick.js";
import { count, counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { type Followers, followersOf, isBusy } from "./applies.js";

const FIRST = 3;
const MOST = 200;

interface AppliesToProps {
  readonly ws: string;
  readonly folder: string | undefined;
  readonly version: number;
  readonly hasText: boolean;
}

/** The threads and folders that follow this document. */
export function AppliesTo({ ws, folder, version, hasText }: AppliesToProps) {
  const { threads, folders, docs, children } = useTree();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the maps are what it is made from
  const followers = useMemo(
    () => followersOf(useTree.getState(), folder),
    [threads, folders, docs, children, folder],
  );
  const [all, setAll] = useState(false);
  const total = followers.folders.length + followers.threads.length;
  const shown = cut(followers, all ? MOST : total === FIRST + 1 ? total : FIRST);
  const rest = total - shown.folders.length - shown.threads.length;
  return (
    <section className="blk" aria-labelledby="applies-to">
      <div className="blk-h">
        <h2 id="applies-to" className="label">
          {hasText ? "Applies to" : "Would apply to"}
        </h2>
        <span className="grow" />
        <span className="small ink-3 num">{words(followers)}</span>
      </div>
      {total === 0 && <p className="small ink-3">No thread or folder here follows this file yet.</p>}
      <ul className="small applies">
        {shown.folders.map(({ folder: { id, name }, hasDraft }) => (
          <li key={id} className="row-x">
            <Icon of={Folder} size={14} />
            <Link className="grow cut lone" to={{ view: "folder", ws, folder: id }}>
              {name}
            </Link>
            {hasDraft && hasText && <span className="ink-3">its own file is a draft, so this applies</span>}
          </li>
        ))}
        {shown.threads.map((thread) => (
          <ThreadRow key={thread.id} ws={ws} thread={thread} version={version} hasText={hasText} />
        ))}
      </ul>
      {rest > 0 && !all && (
        <button type="button" className="more-link small" onClick={() => setAll(true)}>
          Show {count(rest)} more
        </button>
      )}
      {rest > 0 && all && <p className="small ink-3">{`${count(MOST)} of ${count(total)}`}</p>}
    </section>
  );
}

interface ThreadRowProps {
  readonly ws: string;
  readonly thread: Thread;
  readonly version: number;
  readonly hasText: boolean;
}

function ThreadRow({ ws, thread, version, hasText }: ThreadRowProps) {
  const run = useActiveRun(thread.id);
  return (
    <li className="row-x">
      <span className="tick-box">
        <AgentTick agentId={thread.agent_id} />
      </span>
      <Link className="grow cut lone" to={{ view: "thread", ws, thread: thread.id }}>
        {thread.title || "Untitled"}
      </Link>
      {run ? (
        <RunningNote runId={run.id} version={version} />
      ) : (
        hasText && <span className="ink-3">from its next run</span>
      )}
    </li>
  );
}

interface Documents {
  readonly documents?: readonly { readonly version?: number }[];
}

/** A run keeps the version it began with, whatever is saved meanwhile. */
function RunningNote({ runId, version }: { readonly runId: string; readonly version: number }) {
  const { data } = useQuery({
    queryKey: ["run_manifest", runId],
    queryFn: async () => {
      const { manifest } = await call("run/manifest", { run_id: runId });
      const section = manifest.sections.find(({ id }) => id === "agents_md");
      return (section?.source as Documents | undefined)?.documents?.[0]?.version ?? 0;
    },
    // A run that has only begun has no manifest yet.
    retry: 6,
    retryDelay: 500,
  });
  if (data === undefined) return <span className="ink-3">running, keeps its version until it ends</span>;
  if (data === 0) return <span className="ink-3">running without it</span>;
  return (
    <span className="ink-3">
      {data === version ? `running with v${data}` : `running, keeps v${data} until it ends`}
    </span>
  );
}

/** However many folders there are, those that are under way are seen: what they keep is the question. */
function cut({ folders, threads }: Followers, most: number): Followers {
  const busy = Math.min(threads.filter(isBusy).length, most - 1);
  const kept = Math.min(folders.length, most - busy);
  return { folders: folders.slice(0, kept), threads: threads.slice(0, most - kept) };
}

function words({ folders, threads }: Followers): string {
  return [
    threads.length > 0 && counted(threads.length, "thread"),
    folders.length > 0 && counted(folders.length, "folder"),
  ]
    .filter(Boolean)
    .join(", ");
}
