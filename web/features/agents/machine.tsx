import { KeyRound, type LucideIcon, X } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Agent } from "../../../src/protocol/index.js";
import { dyeOf, useAgents } from "../../state/agents.js";
import { Button } from "../../ui/button.js";
import { Icon } from "../../ui/icon.js";
import { CopyButton } from "../settings/copy.js";
import { startThread } from "./actions.js";
import { kindOf } from "./agent-facts.js";
import "./machine.css";

/** Every agent there is, and what was looked for and not found. */
export function MachineList() {
  const { list } = useAgents();
  const shown = list.filter(({ hidden }) => !hidden);
  // A configuration that names agents names all of them: nothing else is looked for.
  const looks = !list.some(({ origin }) => origin === "config");
  const missing = looks
    ? PROGRAMS.filter(({ name }) => !list.some((each) => each.display_name === name))
    : [];
  const keys = looks ? KEYS.filter(({ id }) => !list.some(({ agent_id }) => agent_id === id)) : [];
  return (
    <ul className="found">
      {shown.map((agent) => (
        <AgentRow key={agent.agent_id} agent={agent} />
      ))}
      {missing.map((program) => (
        <MissingRow key={program.name} {...program} />
      ))}
      {keys.length > 0 && <KeysRow keys={keys} all={keys.length === KEYS.length} />}
    </ul>
  );
}

function AgentRow({ agent }: { readonly agent: Agent }) {
  const { className, style } = dyeOf(agent, agent.agent_id);
  const { available, reason, agent_id, display_name } = agent;
  return (
    <li className={className} style={style}>
      <span className="g">
        <span className={`tick${available ? "" : " off"}`} />
      </span>
      <span className={available ? "label" : "label ink-2"}>{display_name}</span>
      <Button
        small
        off={available ? undefined : (reason ?? "It is not available.")}
        aria-label={`New thread with ${display_name}`}
        onClick={() => void startThread({ agent_id })}
      >
        New thread
      </Button>
      <span className="d">
        {standing(agent)}
        {reason && <span className={available ? "" : "warn"}> {reason}</span>}
      </span>
    </li>
  );
}

function standing(agent: Agent): string {
  const { origin, version, signed_in, provider, description } = agent;
  if (provider === "demo") return "Built in, no key, no network";
  const from = { config: "From the configuration", detected: description, built_in: "Built in" }[origin];
  const facts = version ? [version] : [origin === "config" ? `${from}, ${kindOf(agent)}` : from];
  if (signed_in !== undefined) facts.push(signed_in ? "signed in" : "not signed in");
  return facts.join(", ");
}

interface Program {
  readonly name: string;
  /** What is typed to start it. */
  readonly command: string;
  readonly package: string;
}

const PROGRAMS: readonly Program[] = [
  { name: "Claude Code", command: "claude", package: "@anthropic-ai/claude-code" },
  { name: "Codex", command: "codex", package: "@openai/codex" },
  { name: "Pi", command: "pi", package: "@mariozechner/pi-coding-agent" },
  { name: "Gemini CLI", command: "gemini", package: "@google/gemini-cli" },
  { name: "OpenCode", command: "opencode", package: "opencode-ai" },
];

interface LackingProps {
  readonly icon: LucideIcon;
  readonly name: string;
  /** What was found out. */
  readonly says: ReactNode;
  /** What can be done about it, and what one hears of the button that shows how. */
  readonly action: string;
  readonly label?: string;
  readonly children: ReactNode;
}

/** Something that is not here, with what to do about it folded away. */
function LackingRow({ icon, name, says, action, label, children }: LackingProps) {
  const [open, setOpen] = useState(false);
  return (
    <li>
      <span className="g ink-3">
        <Icon of={icon} size={14} />
      </span>
      <span className="label ink-2">{name}</span>
      <Button small aria-expanded={open} aria-label={label} onClick={() => setOpen(!open)}>
        {action}
      </Button>
      <span className="d">{says}</span>
      {open && <div className="found-how">{children}</div>}
    </li>
  );
}

function MissingRow({ name, command, package: from }: Program) {
  const install = `npm install -g ${from}`;
  const says = (
    <>
      <code>{command}</code> is not on the PATH
    </>
  );
  return (
    <LackingRow icon={X} name={name} says={says} action="How to install" label={`How to install ${name}`}>
      <code className="grow">{install}</code>
      <CopyButton text={install} label={`Copy how to install ${name}`} />
    </LackingRow>
  );
}

interface Key {
  readonly id: string;
  readonly name: string;
  readonly variable: string;
}

const KEYS: readonly Key[] = [
  { id: "openai", name: "OpenAI", variable: "OPENAI_API_KEY" },
  { id: "anthropic", name: "Anthropic", variable: "ANTHROPIC_API_KEY" },
  { id: "google", name: "Google", variable: "GEMINI_API_KEY" },
];

function KeysRow({ keys, all }: { readonly keys: readonly Key[]; readonly all: boolean }) {
  const names = keys.map(({ name }) => name).join(", ");
  return (
    <LackingRow
      icon={KeyRound}
      name="API keys"
      says={`${all ? "None set" : "Not set"}: ${names}`}
      action="Add a key"
    >
      <p className="small ink-2">
        Set {keys.map(({ variable }) => variable).join(" or ")} in the environment and start Heddle again.
        Heddle never writes a key anywhere.
      </p>
    </LackingRow>
  );
}
