import type { Run, RunApproval } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import { oneLine } from "../../message-text.js";
import { visible } from "../../output.js";
import type { Session } from "../../session.js";
import { askedLines, wholeCall } from "./asked-call.js";

export type Decision = "allow" | "deny" | "always";
/** What is answered without asking anyone. */
export type Standing = "allow" | "deny" | undefined;

/** Who can be asked: nobody in a script. */
export interface Person {
  readonly present: boolean;
  ask(approval: RunApproval): Promise<Decision | undefined>;
}

interface Given {
  readonly session: Pick<Session, "call" | "place">;
  readonly standing: Standing;
  readonly person: Person;
  readonly aside: (line: string) => void;
}

/**
 * Answers what a run, or one that it delegated to, wants allowed: by what was said on the command line, or by asking. Where
 * nobody can be asked it gives up, and the run waits on.
 */
export class Approving {
  /** Rejects when nobody can answer. */
  readonly stuck: Promise<never>;
  readonly #given: Given;
  readonly #seen = new Set<string>();
  #giveUp: (error: Error) => void = () => {};
  #asking: Promise<void> = Promise.resolve();

  constructor(given: Given) {
    this.#given = given;
    this.stuck = new Promise((_, reject) => {
      this.#giveUp = reject;
    });
    // Whoever does not wait for it is not told.
    this.stuck.catch(() => {});
  }

  changed({ approvals = [], workspace_id }: Run): void {
    for (const approval of approvals) {
      const key = `${approval.run_id} ${approval.tool_call_id}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      // One question at a time.
      this.#asking = this.#asking
        .then(() => this.#answer(approval, workspace_id))
        .catch((error) => this.#giveUp(error));
    }
  }

  async #answer(approval: RunApproval, workspace_id: string): Promise<void> {
    const { session, standing, person, aside } = this.#given;
    const { run_id, tool_call_id, name } = approval;
    if (standing === undefined) await this.#show(approval, workspace_id);
    else aside(`[approval] ${oneLine(`${approval.agent_id} wants to call ${name} ${approval.arguments}`)}`);
    if (standing === undefined && !person.present)
      throw nobodyToAsk(approval, await this.#endsWithUs(approval, workspace_id));
    const decision = standing ?? (await person.ask(approval));
    // Ctrl-C at the question: the run is being cancelled, and with it what it asks.
    if (decision === undefined) return;
    const params = { workspace_id, run_id, tool_call_id, decision };
    await session.call("run/approve", params).catch((error) => {
      // Somebody else was quicker, or the run has ended.
      if ((error as { kind?: string }).kind !== "run.not_asking") throw error;
    });
  }

  /** A program that asks ends with its gateway, and this command's own ends with the command. */
  async #endsWithUs({ agent_id }: RunApproval, workspace_id: string): Promise<boolean> {
    const { session } = this.#given;
    if (session.place !== "private") return false;
    const { agent } = await session.call("agent/get", { workspace_id, agent_id });
    return /^acp$|-cli$/.test(agent.provider ?? "");
  }

  /** All of it, before anybody says yes. */
  async #show(approval: RunApproval, workspace_id: string): Promise<void> {
    const { session, aside } = this.#given;
    aside(askedLines(await wholeCall(session, workspace_id, approval)).join("\n"));
  }
}

function nobodyToAsk({ run_id, thread_id, tool_call_id, name }: RunApproval, ends: boolean) {
  const nobody = `The run waits until somebody allows ${name}, and there is no terminal to ask on.`;
  const all = "`--approve all` allows everything a run asks for";
  const failure = { kind: "run.waiting", run_id, thread_id, tool_call_id } as const;
  if (ends) {
    const why = "The program that asks ends with this command, since no gateway is running";
    return cliError(failure, `${nobody} ${why}: start \`heddle serve\` and send it again. ${all}.`);
  }
  return cliError(
    failure,
    `${nobody} It goes on waiting: \`heddle runs approve ${run_id}\` allows it, with --deny it goes on without, with --show it only shows what is asked. ${all}.`,
  );
}

/** A person at a terminal. */
export function personHere(): Person {
  return {
    present: process.stdin.isTTY === true && process.stderr.isTTY === true,
    async ask({ name }) {
      const prompts = await import("@clack/prompts");
      const answer = await prompts.select({
        message: `Allow ${visible(name)}?`,
        options: [
          { value: "allow", label: "Yes, this once" },
          { value: "always", label: `Always for ${visible(name)} in this thread` },
          { value: "deny", label: "No" },
        ],
        output: process.stderr,
        withGuide: false,
      });
      return prompts.isCancel(answer) ? undefined : (answer as Decision);
    },
  };
}

/** `--approve all|none|ask`. */
export function standingOf(given: string | undefined): Standing {
  if (given === undefined || given === "ask") return undefined;
  if (given === "all") return "allow";
  if (given === "none") return "deny";
  throw new UsageError(`--approve takes all, none or ask, not '${given}'`);
}
