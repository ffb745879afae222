import { type FormEvent, useId, useState } from "react";
import type { Agent, Params, Thread } from "../../../src/protocol/index.js";
import { command } from "../../state/gateway.js";
import { toastProblem } from "../../state/toasts.js";
import { Button } from "../../ui/button.js";

interface ChoicesProps {
  readonly agent: Agent;
  readonly thread: Thread;
}

/** What this thread has of its own: another model, another effort, tools that need no asking. */
export function ThreadChoices({ agent, thread }: ChoicesProps) {
  const granted = thread.granted_tools ?? [];
  if (!isModelApi(agent) && granted.length === 0) return null;
  return (
    <section className="agent-thread" aria-label="In this thread">
      <h3>In this thread</h3>
      {isModelApi(agent) && <Model key={thread.config.model ?? ""} agent={agent} thread={thread} />}
      {isModelApi(agent) && <Effort thread={thread} />}
      {granted.map((name) => (
        <div key={name} className="row-x small">
          <span className="grow">
            <code>{name}</code> <span className="ink-3">is always allowed</span>
          </span>
          <Button small aria-label={`Ask again for ${name}`} onClick={() => takeBack(thread, name)}>
            Ask again
          </Button>
        </div>
      ))}
    </section>
  );
}

/** A program chooses its own model; whoever answers from elsewhere is told nothing. */
function isModelApi({ type, provider = "" }: Agent): boolean {
  return type === "chat" && !/-cli$|^acp$/.test(provider);
}

function update(thread: Thread, change: Omit<Params<"thread/update">, "thread_id">): Promise<boolean> {
  return command("thread/update", {
    workspace_id: thread.workspace_id,
    thread_id: thread.id,
    ...change,
  }).then(
    () => true,
    (error) => {
      toastProblem(error);
      return false;
    },
  );
}

function takeBack(thread: Thread, name: string): void {
  const granted_tools = (thread.granted_tools ?? []).filter((each) => each !== name);
  void update(thread, { granted_tools });
}

function Model({ agent, thread }: ChoicesProps) {
  const id = useId();
  const now = thread.config.model ?? "";
  const [text, setText] = useState(now);
  const save = async (event?: FormEvent) => {
    event?.preventDefault();
    const model = text.trim();
    if (model !== now && !(await update(thread, { config: { model: model || null } }))) setText(now);
  };
  return (
    <form className="row-x" onSubmit={save}>
      <label htmlFor={id} className="small ink-3">
        Model
      </label>
      <input
        id={id}
        className="text-in grow"
        value={text}
        placeholder={agent.model ?? "as the agent has it"}
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => void save()}
      />
    </form>
  );
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

function Effort({ thread }: { readonly thread: Thread }) {
  const id = useId();
  return (
    <div className="row-x">
      <label htmlFor={id} className="small ink-3">
        Effort
      </label>
      <select
        id={id}
        className="text-in grow"
        value={thread.config.reasoning_effort ?? ""}
        onChange={({ target }) => void update(thread, { config: { reasoning_effort: target.value || null } })}
      >
        <option value="">as the agent has it</option>
        {EFFORTS.map((effort) => (
          <option key={effort} value={effort}>
            {effort}
          </option>
        ))}
      </select>
    </div>
  );
}
