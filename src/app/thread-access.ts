import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Lru, randomSecret } from "../base/index.js";
import type { Gateway, RunAccess } from "../gateway/index.js";
import type { Bridges } from "../runs/index.js";
import {
  commandDirectory,
  type ListedPlugin,
  type Skill,
  type SkillsPlace,
  type ToolContext,
  type ToolRegistry,
  tidySkills,
  writeCommand,
  writeSkills,
} from "../tools/index.js";
import { hookEnv } from "./child-env.js";
import { programWords } from "./program.js";
import type { Withheld } from "./withheld.js";

interface ThreadAccessGiven {
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly withheld: Withheld;
  /** False: nothing may be opened that a command could reach this gateway by. */
  readonly mayListen: boolean;
}

/** What a command is started with; `end` when it is over. */
interface CommandEnvironment {
  readonly env: NodeJS.ProcessEnv;
  end(): void;
}

const KEPT_ACCESSES = 200;
const LISTENS_MS = 2_000;

/** A shell that is told of no path looks in these. */
const USUAL_PATH = "/usr/local/bin:/usr/bin:/bin";

/** How what an agent starts reaches this gateway: the skills it reads, the command it runs, the token it comes in with. */
export class AgentCommands {
  readonly #given: ThreadAccessGiven;
  /** A thread whose program has not worked for long gets another token, and its program is started again. */
  readonly #accesses = new Lru<string, RunAccess>(KEPT_ACCESSES, (access) => {
    if (!this.#inUse.has(access)) this.#gateway?.access.revoke(access.token);
  });
  /** Whose run is under way: however long it takes, it is not forgotten. */
  readonly #inUse = new Set<RunAccess>();
  #gateway: Gateway | undefined;
  #url: Promise<string> | undefined;
  #heard = () => {};
  readonly #listens = new Promise<void>((resolve) => {
    this.#heard = resolve;
  });

  constructor(given: ThreadAccessGiven) {
    this.#given = given;
    tidySkills(this.#place());
  }

  /** Commands come in here. */
  over(gateway: Gateway): void {
    this.#gateway = gateway;
  }

  /** The gateway has an address: none of their own is needed. */
  listening(url: string): void {
    this.#url = Promise.resolve(url);
    this.#heard();
  }

  /** The skills of plugins. None where a command could not reach this gateway: nobody is told of what can't be used. */
  async skills(
    workspace_id: string,
    plugins: readonly ListedPlugin[],
    tools: ToolRegistry,
  ): Promise<readonly Skill[]> {
    if (!this.#given.mayListen) return [];
    const everywhere = new Set(tools.plugins());
    const listed = tools.list(workspace_id);
    const common = plugins.filter((plugin) => everywhere.has(plugin));
    const own = plugins.filter((plugin) => !everywhere.has(plugin));
    const written = await Promise.all([
      writeSkills(this.#place(), common, listed),
      writeSkills({ ...this.#place(), workspace_id }, own, listed),
    ]);
    return written.flat();
  }

  /** The environment of one command. In a thread it can use that thread's tools, until it ends. */
  environment = async ({ workspace_id, thread_id }: ToolContext): Promise<CommandEnvironment> => {
    const { env, withheld, mayListen } = this.#given;
    const base = hookEnv(env, withheld.names());
    const gateway = this.#gateway;
    if (thread_id === undefined || !mayListen || !gateway) return { env: base, end: () => {} };
    const [url] = await Promise.all([this.#address(gateway), writeCommand(this.#place())]);
    const token = gateway.access.issue({ workspace_id, thread_id });
    return {
      env: {
        ...base,
        PATH: [commandDirectory(this.#place()), base.PATH || USUAL_PATH].join(delimiter),
        HEDDLE_URL: url,
        HEDDLE_WORKSPACE: workspace_id,
        HEDDLE_THREAD: thread_id,
        HEDDLE_TOKEN: token,
      },
      end: () => gateway.access.revoke(token),
    };
  };

  /**
   * How a program reaches the tools of its thread while a run is under way. One token for as long as it may be kept, and for
   * its agent alone: what another agent has left in the thread may not come in with this one's rights.
   */
  readonly bridges: Bridges = {
    mayOpen: () => this.#given.mayListen,
    open: async (key, agent_id) => {
      const gateway = this.#gateway;
      if (!this.#given.mayListen || !gateway) return undefined;
      const url = await this.#address(gateway);
      const name = `${key.workspace_id}/${key.thread_id}/${agent_id}`;
      const access = this.#accesses.get(name) ?? gateway.access.issueForRuns(key);
      this.#inUse.add(access);
      access.open();
      const [command = "", ...args] = programWords();
      const { token } = access;
      const env = { HEDDLE_URL: url, HEDDLE_TOKEN: token };
      const bridge = { url: `${url}/mcp`, token, command, args: [...args, "mcp"], env };
      return { bridge, close: () => this.#close(name, access) };
    },
  };

  /** Where agents elsewhere answer. A gateway that is about to listen is waited for: a port of their own ends with it. */
  readonly ownUrl = async (): Promise<string | undefined> => {
    const gateway = this.#gateway;
    if (!gateway) return undefined;
    if (!this.#url && !this.#given.mayListen) return undefined;
    if (!this.#url) await Promise.race([this.#listens, sleep(LISTENS_MS, undefined, { ref: false })]);
    return this.#address(gateway);
  };

  #close(name: string, access: RunAccess): void {
    access.close();
    // Kept before it is out of use: taking it in anew would forget it first.
    this.#accesses.set(name, access);
    this.#inUse.delete(access);
  }

  /** Nobody else knows the token of a port that is opened for commands alone: only those of threads let in there. */
  async #address(gateway: Gateway): Promise<string> {
    this.#url ??= gateway
      .listen({ host: "127.0.0.1", port: 0, token: randomSecret() })
      .then(({ port }) => `http://127.0.0.1:${port}`);
    try {
      return await this.#url;
    } catch (error) {
      this.#url = undefined;
      throw error;
    }
  }

  #place(): SkillsPlace {
    return { directory: join(this.#given.dataDir, "skills"), program: programWords() };
  }
}
