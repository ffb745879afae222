import type { Bench } from "../harness.js";
import { LineProcess, type Said } from "./line-process.js";
import { cleanEnvironment, furnish, type Installed, type ProgramName } from "./programs.js";
import { ANSWER, type Turn } from "./turns.js";

/** What the agent is told to be, on both sides. */
export const INSTRUCTIONS = "You are brief.";

/** A program's own long-lived mode, as anybody would use it without a gateway. */
interface Mode {
  readonly args: readonly string[];
  /** Nothing is looked up or told over the network, and nothing done that the gateway switches off as well. */
  readonly quiet?: Readonly<Record<string, string>>;
  /** Gets it to where it can be asked. Answers how. */
  open(process: LineProcess, cwd: string): Promise<(text: string) => object>;
  /** The words of the answer that a line brings. */
  words(said: Said): unknown;
  isEnd(said: Said): boolean;
}

const asPrompt = (text: string) => ({ type: "prompt", message: text });

const asUser = (text: string) => ({
  type: "user",
  message: { role: "user", content: [{ type: "text", text }] },
});

/** The tools of claude that a gateway never lets it have: their descriptions go to the model with every turn. */
const NOT_OFFERED = [
  "AskUserQuestion",
  "CronCreate",
  "CronDelete",
  "CronList",
  "EnterWorktree",
  "ExitWorktree",
  "ListAgents",
  "Monitor",
  "PushNotification",
  "RemoteTrigger",
  "ScheduleWakeup",
  "SendMessage",
].join(",");

const modes: Readonly<Record<ProgramName, Mode>> = {
  claude: {
    args: [
      "-p",
      "--input-format=stream-json",
      "--output-format=stream-json",
      "--verbose",
      "--include-partial-messages",
      "--model=fake",
      "--setting-sources=user",
      "--strict-mcp-config",
      `--disallowedTools=${NOT_OFFERED}`,
      `--append-system-prompt=${INSTRUCTIONS}`,
    ],
    quiet: {
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_TELEMETRY: "1",
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
      CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_DISABLE_CRON: "1",
      CLAUDE_CODE_DISABLE_WORKFLOWS: "1",
    },
    open: async () => asUser,
    words: ({ type, event }) => (type === "stream_event" ? at(event, "delta", "text") : undefined),
    isEnd: ({ type }) => type === "result",
  },
  codex: {
    args: [
      ...["-c", "features.plugins=false", "-c", "features.apps=false"],
      ...["-c", "analytics.enabled=false", "-c", "check_for_update_on_startup=false"],
      ...["-c", "tools.experimental_request_user_input={enabled=false}"],
      ...["-c", "project_doc_max_bytes=0", "app-server"],
    ],
    async open(process, cwd) {
      let id = 0;
      const ask = (method: string, params: object) => {
        id += 1;
        return process.exchange({ id, method, params }, (said) => said.id === id);
      };
      await ask("initialize", { clientInfo: { name: "bench", title: "Bench", version: "1" } });
      process.send({ method: "initialized" });
      const policy = { approvalPolicy: "untrusted", sandbox: "danger-full-access" };
      const opened = await ask("thread/start", { cwd, ...policy, developerInstructions: INSTRUCTIONS });
      const threadId = at(opened.result, "thread", "id");
      return (text) => {
        id += 1;
        const input = [{ type: "text", text, text_elements: [] }];
        return { id, method: "turn/start", params: { threadId, input } };
      };
    },
    words: ({ method, params }) => (method === "item/agentMessage/delta" ? at(params, "delta") : undefined),
    isEnd: ({ method }) => method === "turn/completed",
  },
  pi: {
    args: [
      ...["--mode", "rpc", "--model", "fake/fake"],
      ...["--no-extensions", "--no-skills", "--no-prompt-templates", "--no-themes", "--no-context-files"],
      ...["--append-system-prompt", INSTRUCTIONS],
    ],
    quiet: { PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_TELEMETRY: "0" },
    async open(process) {
      await process.exchange({ id: "state", type: "get_state" }, ({ id }) => id === "state");
      return asPrompt;
    },
    words({ type, assistantMessageEvent: piece }) {
      const isText = type === "message_update" && at(piece, "type") === "text_delta";
      return isText ? at(piece, "delta") : undefined;
    },
    isEnd: ({ type }) => type === "agent_end",
  },
};

/** One process of a program, asked directly. */
export class LongLived {
  readonly #process: LineProcess;
  readonly #mode: Mode;
  #asked: (text: string) => object = () => ({});

  /** `model` is where the fake model is asked. */
  static async open(bench: Bench, program: Installed, model: string): Promise<LongLived> {
    const [home, cwd] = [bench.directory(), bench.directory()];
    const mode = modes[program.name];
    const env = { ...cleanEnvironment(home), ...furnish(program.name, home, model).env, ...mode.quiet };
    const process = new LineProcess(bench, { command: program.command, args: mode.args, cwd, env });
    const opened = new LongLived(process, mode);
    opened.#asked = await mode.open(process, cwd);
    return opened;
  }

  private constructor(process: LineProcess, mode: Mode) {
    this.#process = process;
    this.#mode = mode;
  }

  /** From sending the message until the program says that its turn has ended. */
  async take(text: string): Promise<Turn> {
    const { words, isEnd } = this.#mode;
    let firstWords: number | undefined;
    let length = 0;
    const started = performance.now();
    const end = await this.#process.exchange(this.#asked(text), (said) => {
      const piece = words(said);
      if (typeof piece === "string") {
        firstWords ??= performance.now() - started;
        length += piece.length;
      }
      return isEnd(said) || isRefusal(said);
    });
    const whole = performance.now() - started;
    // One that fails ends its turn as well, and sooner.
    if (firstWords === undefined || length !== ANSWER)
      throw new Error(
        `a turn with ${length} characters for ${ANSWER}: ${JSON.stringify(end).slice(0, 2_000)}`,
      );
    return { firstWords, whole };
  }
}

/** The message was not taken: no turn begins, so none would end. */
function isRefusal(said: Said): boolean {
  return said.success === false || ("id" in said && "error" in said);
}

/** What stands at the end of a path in something that was said. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (inner !== null && typeof inner === "object" ? (inner as Said)[name] : undefined),
    value,
  );
}
