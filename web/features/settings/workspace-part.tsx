import { TriangleAlert } from "lucide-react";
import { type FormEvent, useEffect, useId, useState } from "react";
import type { Result, Workspace } from "../../../src/protocol/index.js";
import { openOverlay } from "../../shell/overlays.js";
import { client, command } from "../../state/gateway.js";
import { queries } from "../../state/queries.js";
import { toastProblem } from "../../state/toasts.js";
import { readWorkspacesAgain } from "../../state/workspaces.js";
import { Button } from "../../ui/button.js";
import { count, counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Line, Part, Unread } from "./part.js";
import { useWorkspaceFacts } from "./workspace-facts.js";

export function WorkspacePart({ ws }: { readonly ws: string }) {
  const { facts, failed, retry } = useWorkspaceFacts(ws);
  const workspace = facts?.workspace;
  return (
    <Part id="workspace" title="Workspace">
      {failed && <Unread what="the workspace" onRetry={retry} />}
      {workspace && <Name key={workspace.name} workspace={workspace} />}
      {workspace && (
        <Line
          label="Directory"
          hint={workspace.root_path ? undefined : "Its threads are kept in Heddle’s own data directory."}
        >
          <span className="mono ink-2 set-path">{workspace.root_path ?? "no project"}</span>
        </Line>
      )}
      {facts?.warnings?.map((warning) => (
        <p key={warning} className="set-warning">
          <Icon of={TriangleAlert} size={14} label="Warning" />
          <span>{warning}</span>
        </p>
      ))}
      <Line
        label="Sessions of other tools"
        hint="Those of Claude Code, Codex, pi and OpenCode become threads here."
      >
        <Button small onClick={() => openOverlay({ kind: "import" })}>
          Import sessions…
        </Button>
      </Line>
      <Reindex ws={ws} />
    </Part>
  );
}

function Name({ workspace }: { readonly workspace: Workspace }) {
  const id = useId();
  const [name, setName] = useState(workspace.name);
  const save = async (event?: FormEvent) => {
    event?.preventDefault();
    const wanted = name.trim();
    if (wanted === "" || wanted === workspace.name) return setName(workspace.name);
    try {
      await command("workspace/update", { workspace_id: workspace.id, name: wanted });
      void readWorkspacesAgain();
      void queries.invalidateQueries({ queryKey: ["agents", workspace.id, "workspace"] });
    } catch (error) {
      setName(workspace.name);
      toastProblem(error);
    }
  };
  return (
    <form onSubmit={save}>
      <Line label={<label htmlFor={id}>Name</label>}>
        <input
          id={id}
          className="text-in set-name"
          value={name}
          maxLength={200}
          onChange={(event) => setName(event.target.value)}
          onBlur={() => void save()}
        />
      </Line>
    </form>
  );
}

interface Progress {
  readonly done: number;
  readonly total: number;
}

/** Reads every thread file again: for files that were changed while nobody looked. */
function Reindex({ ws }: { readonly ws: string }) {
  const [progress, setProgress] = useState<Progress>();
  const [busy, setBusy] = useState(false);
  const [result, setResult] = useState<Result<"workspace/reindex">>();
  useEffect(
    () =>
      client.on("workspace/indexing", ({ workspace_id, done, total }) => {
        if (workspace_id === ws) setProgress(done < total ? { done, total } : undefined);
      }),
    [ws],
  );
  const begin = async () => {
    setBusy(true);
    setResult(undefined);
    await command("workspace/reindex", { workspace_id: ws }).then(setResult, toastProblem);
    setBusy(false);
    setProgress(undefined);
  };
  return (
    <>
      <Line label="Thread files" hint={<Reading busy={busy} progress={progress} result={result} />}>
        <Button small off={busy ? "They are being read." : undefined} onClick={() => void begin()}>
          Read all again
        </Button>
      </Line>
      {progress && (
        <progress
          className="set-progress"
          max={progress.total}
          value={progress.done}
          aria-label="Threads read"
        />
      )}
      {result && result.problems.length > 0 && (
        <ul className="set-list">
          {result.problems.slice(0, 50).map(({ file, message }) => (
            <li key={file + message} className="set-warning">
              <Icon of={TriangleAlert} size={14} label="Problem" />
              <span>
                <code>{file}</code> {message}
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

interface ReadingProps {
  readonly busy: boolean;
  readonly progress: Progress | undefined;
  readonly result: Result<"workspace/reindex"> | undefined;
}

function Reading({ busy, progress, result }: ReadingProps) {
  if (progress)
    return <span role="status">{`Reading, ${count(progress.done)} of ${count(progress.total)}`}</span>;
  if (busy) return <span role="status">Reading…</span>;
  if (!result)
    return "Changes are seen as they are made. Read them all again if something seems to be missing.";
  const { threads, added, changed, removed } = result;
  return (
    <span role="status">
      {`Read ${counted(threads, "thread")}: ${added} added, ${changed} changed, ${removed} removed`}
    </span>
  );
}
