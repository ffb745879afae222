import { TriangleAlert } from "lucide-react";
import type { Manifest } from "../../../src/protocol/index.js";
import { agentName, useAgent } from "../../state/agents.js";
import { counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import type { Diagnostic } from "./journal.js";

type Delivery = NonNullable<Manifest["delivery"]>;

const WAYS: Readonly<Record<Delivery["way"], string>> = {
  system_prompt: "as its system prompt",
  developer_instructions: "as developer instructions",
  message: "in the message",
  already_there: "earlier in this session",
  not_sent: "not at all: it gets only the message",
};
const SESSIONS: Readonly<Record<Delivery["session"], string>> = {
  new: "a new session",
  resumed: "its session, taken up again",
  kept: "the session that goes on",
};

/** How what Heddle had to say reached a program, and what it adds that nobody here sees. */
export function DeliveryBox({ manifest }: { readonly manifest: Manifest }) {
  const agent = useAgent(manifest.agent_id);
  const { delivery } = manifest;
  if (!delivery) return null;
  const name = agentName(agent, manifest.agent_id);
  const past = delivery.replayed > 0 ? `, ${counted(delivery.replayed, "message")} of the past` : "";
  return (
    <section className="given" aria-label={`Handed over to ${name}`}>
      <dl className="kv">
        <dt>Handed to</dt>
        <dd>{name}</dd>
        <dt>Instructions</dt>
        <dd>{WAYS[delivery.way]}</dd>
        <dt>Session</dt>
        <dd>
          {SESSIONS[delivery.session]}
          {past}
        </dd>
        {delivery.adds.length > 0 && (
          <>
            <dt>It adds</dt>
            <dd className="wraps">{delivery.adds.join(", ")}. Heddle does not see this.</dd>
          </>
        )}
      </dl>
    </section>
  );
}

/** Hooks that were left out of this run: it went on without them. */
export function Diagnostics({ list }: { readonly list: readonly Diagnostic[] }) {
  if (list.length === 0) return null;
  return (
    <ul className="notes-of-hooks" aria-label="What hooks reported">
      {list.map(({ hook_id, message }) => (
        <li key={`${hook_id} ${message}`}>
          <Icon of={TriangleAlert} size={12} />
          <span>{message}</span>
        </li>
      ))}
    </ul>
  );
}

/** Prompt sources that were named and lost to a stronger one. */
export function Shadowed({ manifest }: { readonly manifest: Manifest }) {
  if (!manifest.shadowed?.length) return null;
  return (
    <ul className="notes-of-hooks" aria-label="Not used">
      {manifest.shadowed.map(({ source, by, name }) => (
        <li key={`${source} ${name ?? ""}`}>
          <span className="ink-3">
            {NAMES[source] ?? source}
            {name ? ` ${name}` : ""} not used: {NAMES[by] ?? by} came first
          </span>
        </li>
      ))}
    </ul>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  run_refs: "refs of the run",
  thread_refs: "refs of the thread",
  prompt_pack: "prompt pack",
  agent: "the agent’s prompt",
};
