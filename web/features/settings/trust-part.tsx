import { useState } from "react";
import type { Result } from "../../../src/protocol/index.js";
import { call } from "../../state/gateway.js";
import { queries } from "../../state/queries.js";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";
import { Part, Unread } from "./part.js";
import { useWorkspaceFacts } from "./workspace-facts.js";

type Trust = NonNullable<Result<"workspace/get">["trust"]>[number];

const KINDS: Readonly<Record<Trust["kind"], { name: string; file: string; does: string }>> = {
  config: {
    name: "Agents of this project",
    file: "heddle.config.json",
    does: "It adds agents, and may start programs and ask servers.",
  },
  mcp: {
    name: "Tool servers of this project",
    file: ".mcp.json",
    does: "It starts programs, or asks servers.",
  },
  worktree_hooks: {
    name: "Set-up of worktrees",
    file: ".agent/config.json",
    does: "It runs commands when a thread gets a worktree.",
  },
};

/** What a project's files would run here, word for word, and whether somebody allowed exactly that. */
export function TrustPart({ ws }: { readonly ws: string }) {
  const { facts, failed, retry } = useWorkspaceFacts(ws);
  const states = facts?.trust ?? [];
  return (
    <Part
      id="trust"
      title="Trust"
      about="A project’s files can name programs to run. Nothing of them is used until you trust it, and only as long as it stays exactly the same."
    >
      {failed && <Unread what="what this project would run" onRetry={retry} />}
      {facts && states.length === 0 && <p className="ink-3">This project’s files name nothing to run.</p>}
      {states.map((state) => (
        <TrustCard key={state.kind} ws={ws} state={state} />
      ))}
    </Part>
  );
}

function TrustCard({ ws, state }: { readonly ws: string; readonly state: Trust }) {
  const { name, file, does } = KINDS[state.kind];
  const [busy, setBusy] = useState(false);
  const answer = async (revoke: boolean) => {
    setBusy(true);
    const { kind, content_sha256 } = state;
    await call("workspace/trust", {
      workspace_id: ws,
      kind,
      ...(revoke ? { revoke } : { content_sha256 }),
    }).catch(toastProblem);
    await queries.invalidateQueries({ queryKey: ["agents"] });
    void queries.invalidateQueries({ queryKey: ["tools"] });
    setBusy(false);
  };
  return (
    <article className="set-card" aria-label={name}>
      <header className="row-x">
        <span className="grow">
          <span className="label">{name}</span> <code className="ink-3">{file}</code>
        </span>
        <span className={`chip ${state.trusted ? "ok" : "warn"}`}>
          {state.trusted ? "Trusted" : "Not trusted"}
        </span>
      </header>
      <p className="small ink-2">{does}</p>
      <pre className="set-code thin-scroll" tabIndex={0} aria-label={`What ${file} says`}>
        {shownContent(state.content)}
      </pre>
      <footer className="row-x">
        {state.trusted ? (
          <Button small disabled={busy} onClick={() => void answer(true)}>
            Revoke trust
          </Button>
        ) : (
          <Button small disabled={busy} onClick={() => void answer(false)}>
            Trust exactly this
          </Button>
        )}
        <span className="grow" />
        <code className="micro ink-3" title="SHA-256 of the content">
          {state.content_sha256.slice(0, 16)}
        </code>
      </footer>
    </article>
  );
}

const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** What can't be seen could hide what would run: it is written out. */
function shownContent(content: string): string {
  let text = content;
  try {
    text = JSON.stringify(JSON.parse(content), null, 2);
  } catch {
    // It is shown as it is.
  }
  return text.replace(UNSEEN, (each) =>
    each === "\n" ? each : `\\u${each.codePointAt(0)?.toString(16).padStart(4, "0")}`,
  );
}
