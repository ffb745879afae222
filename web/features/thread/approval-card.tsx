import { useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { RunApproval } from "../../../src/protocol/index.js";
import { agentName, useAgent } from "../../state/agents.js";
import { useCommandList } from "../../state/commands.js";
import { call } from "../../state/gateway.js";
import { usePrefs } from "../../state/prefs.js";
import { useRun } from "../../state/runs.js";
import { toastProblem } from "../../state/toasts.js";
import { useThread } from "../../state/tree.js";
import { Button } from "../../ui/button.js";
import { focusSoon } from "../../ui/focus-soon.js";
import { count, when } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { StateMark } from "../../ui/state-mark.js";
import { Asked, wishOf } from "./asked.js";
import { approvalKey, DECIDED, type Decision, decide } from "./decisions.js";
import { usePlace } from "./place.js";
import { setSeen } from "./reading.js";

/** A tool call that waits for somebody's word. It never takes the focus. */
export function ApprovalCard({ approval }: { readonly approval: RunApproval }) {
  const agent = useAgent(approval.agent_id);
  const thread = useThread(approval.thread_id);
  const { whole, failed, retry } = useWhole(approval);
  const [sent, setSent] = useState<Decision>();
  const ref = useInView(approvalKey(approval));
  useHandOver(ref);
  const name = agentName(agent, approval.agent_id);
  const title = `${name} wants to ${wishOf(approval.name)}`;
  const answered = (by: Decision) => (sent === by ? { busy: true } : { off: sent && "It is being answered" });
  const allowing = (by: Decision) =>
    whole === undefined ? { off: "All of it is being read first" } : answered(by);
  const answer = (decision: Decision) => {
    if (sent || (whole === undefined && decision !== "deny")) return;
    setSent(decision);
    // What was answered stays so until the run says it, too: no second answer slips in between.
    void decide(approval, decision).then((done) => done || setSent(undefined));
  };
  return (
    <div
      ref={ref}
      className="ask"
      role="group"
      aria-label={title}
      data-approval={approvalKey(approval)}
      tabIndex={0}
      onKeyDown={(event) => keysOf(event, answer)}
    >
      <h2>
        <StateMark mark="waiting" silent />
        {title}
      </h2>
      <Asked name={approval.name} input={whole ?? approval.arguments} />
      {approval.truncated && whole === undefined && (
        <p className="why">
          {failed
            ? "The rest could not be read. "
            : `Reading all ${count(approval.arguments_chars ?? 0)} characters…`}
          {failed && (
            <button type="button" className="link" onClick={retry}>
              Try again
            </button>
          )}
        </p>
      )}
      <div className="btns">
        <Button kind="primary" keys="a" {...allowing("allow")} onClick={() => answer("allow")}>
          Allow once
        </Button>
        <Button className="wide" {...allowing("always")} onClick={() => answer("always")}>
          Always in this thread
        </Button>
        <Button keys="d" {...answered("deny")} onClick={() => answer("deny")}>
          Deny
        </Button>
        <span className="grow" />
        <span className="why">
          {thread?.worktree && `In the worktree ${thread.worktree.path.split("/").at(-1)}. `}
          <Why approval={approval} name={name} />
        </span>
      </div>
    </div>
  );
}

/** By which rule it asks, as far as that is told; and the way to what its agent may do. */
function Why({ approval, name }: { readonly approval: RunApproval; readonly name: string }) {
  const { ws, thread } = usePlace();
  const { agent_id, thread_id } = approval;
  const { data } = useQuery({
    queryKey: ["agents", ws, "details", agent_id],
    queryFn: () => call("agent/get", { workspace_id: ws, agent_id }),
  });
  const rule = data?.agent.tool_approvals?.ask.find((glob) => matchesGlob(glob, approval.name));
  const tool = visibleExactly(approval.name);
  const may = `What ${name} may do`;
  return (
    <>
      {rule === undefined ? `${tool} asks before it is used. ` : `${tool} asks, by ${name}’s rule `}
      {rule !== undefined && <code>{visibleExactly(rule)}</code>}
      {rule !== undefined && ". "}
      {thread_id === thread ? (
        <button type="button" className="link" onClick={showAgent}>
          {may}
        </button>
      ) : (
        <Link to={{ view: "thread", ws, thread: thread_id }}>Its thread</Link>
      )}
    </>
  );
}

/** The header offers it, and knows what the agent may use here. */
function showAgent(): void {
  useCommandList
    .getState()
    .list.find(({ id }) => id === "agent")
    ?.run();
}

function matchesGlob(glob: string, name: string): boolean {
  const parts = glob.split("*").map((part) => part.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("?", "."));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}

function keysOf(event: KeyboardEvent, answer: (decision: Decision) => void): void {
  const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (ctrlKey || metaKey || altKey || !usePrefs.getState().singleKeys) return;
  const decision =
    key.toLowerCase() === "a" ? (shiftKey ? "always" : "allow") : key === "d" ? "deny" : undefined;
  if (!decision) return;
  event.preventDefault();
  event.stopPropagation();
  answer(decision);
}

/** All of the arguments: nobody should allow what they have not been shown. */
function useWhole(approval: RunApproval) {
  const { run_id, tool_call_id, truncated } = approval;
  const [whole, setWhole] = useState(truncated ? undefined : approval.arguments);
  const [failed, setFailed] = useState(false);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt asks again
  useEffect(() => {
    if (!truncated) return;
    setFailed(false);
    call("run/get", { run_id, tool_call_id }).then(
      ({ call: asked }) => setWhole(asked?.arguments),
      (error: unknown) => {
        setFailed(true);
        toastProblem(error);
      },
    );
  }, [run_id, tool_call_id, truncated, attempt]);
  return { whole, failed, retry: () => setAttempt((before) => before + 1) };
}

/** Tells whether it can be seen, so that what can't be is named above the composer. */
function useInView(key: string) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const card = ref.current;
    if (!card) return;
    const root = card.closest(".scroll");
    const observer = new IntersectionObserver(([entry]) => setSeen(key, entry?.isIntersecting === true), {
      root,
      threshold: 0.2,
    });
    observer.observe(card);
    return () => {
      observer.disconnect();
      setSeen(key, false);
    };
  }, [key]);
  return ref;
}

/** Whoever answered it by keyboard goes on at its message, or in the composer. */
function useHandOver(ref: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const card = ref.current;
    return () => {
      if (!card?.contains(document.activeElement)) return;
      const item = card.closest<HTMLElement>("[data-item]");
      const scroll = card.closest(".scroll");
      const again = () =>
        scroll?.querySelector<HTMLElement>(`[data-item="${CSS.escape(item?.dataset.item ?? "")}"]`);
      focusSoon(() => again() ?? document.querySelector<HTMLElement>(".dock textarea"));
    };
  }, [ref]);
}

/** What an answered card folds to: `Allowed once, 14:32`. */
export function DecidedRow({ run_id, tool_call_id }: Pick<RunApproval, "run_id" | "tool_call_id">) {
  const decided = useRun(run_id)?.decisions?.find((each) => each.tool_call_id === tool_call_id);
  if (!decided) return null;
  return (
    <p className="decided">
      <Icon of={decided.decision === "deny" ? X : Check} size={12} />
      {DECIDED[decided.decision]}, {when(decided.decided_at)}
    </p>
  );
}
