import { CircleAlert } from "lucide-react";
import { Icon } from "../../ui/icon.js";
import { useConfigFile } from "../agents/config-file.js";
import { LookAgain } from "../agents/look-again.js";
import { MachineList } from "../agents/machine.js";
import { CopyButton } from "./copy.js";
import { Part } from "./part.js";

const SAMPLE = `{
  "agents": [
    {
      "agentId": "general",
      "displayName": "General",
      "description": "Answers questions of all kinds.",
      "chat": { "provider": "anthropic", "model": "claude-sonnet-5-5" }
    },
    {
      "agentId": "local",
      "chat": {
        "provider": "openai-compatible",
        "model": "qwen3",
        "config": { "baseURL": "http://127.0.0.1:11434/v1" }
      }
    },
    { "agentId": "claude", "chat": { "provider": "claude-cli" } }
  ]
}
`;

/** What was found on this machine, and how to have agents of one's own. */
export function AgentsPart() {
  const { file, problem } = useConfigFile();
  return (
    <Part
      id="agents"
      title="Agents"
      about="Programs, local servers and keys that were found on this machine, looked for every minute."
    >
      {problem && (
        <div className="set-problem" role="alert">
          <Icon of={CircleAlert} size={14} />
          <div>
            <p className="label">The last edit of the configuration is not in effect</p>
            <p>{problem}</p>
          </div>
        </div>
      )}
      <MachineList />
      <LookAgain />
      <h3>Add an agent</h3>
      <p className="ink-2">
        Write this file. It counts as soon as it is saved, and an error changes nothing. When it names agents,
        those are all there are.
      </p>
      {file && (
        <div className="set-copy">
          <code className="grow">{file}</code>
          <CopyButton text={file} label="Copy the path of the configuration" />
        </div>
      )}
      <div className="set-sample">
        <pre className="set-code thin-scroll" tabIndex={0} aria-label="A sample configuration">
          {SAMPLE}
        </pre>
        <CopyButton text={SAMPLE} label="Copy the sample" />
      </div>
    </Part>
  );
}
