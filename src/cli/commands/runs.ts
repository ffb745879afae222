import { type Command, InvalidArgumentError } from "commander";
import { examples, wholeNumber, workspaceOptions } from "../options.js";
import { RUN_STATUSES } from "./run/run-text.js";

const RUN = "the run's id, or with --thread its number";

export function addRuns(program: Command): void {
  const group = program
    .command("runs")
    .summary("list, approve, cancel or steer runs")
    .description("runs: each is one message to an agent, worked to its end");
  examples(
    workspaceOptions(
      group
        .command("list")
        .description("list them, the newest first (what `heddle runs` does)")
        .option("--thread <id>", "only those of this thread")
        .option(
          "--status <status>",
          `only those in this state, or in several with commas: ${RUN_STATUSES.join(", ")}`,
          states,
        )
        .option("--tree [run]", "which run was delegated from which; with a run, that one's whole tree")
        .option("--limit <number>", "how many at most", wholeNumber(1), 30),
    ),
    "heddle runs --thread thr_01M7Z0K5V2",
    "heddle runs --status running,queued",
    "heddle runs --tree run_01M7Z0K5V2",
  ).action(async (options) => (await import("./run/list.js")).list(options));
  examples(
    workspaceOptions(
      group
        .command("approve")
        .description(
          "allow a tool call that a run waits with; `heddle runs --status waiting` lists such runs",
        )
        .argument("<run>", RUN)
        .argument("[call]", "which call, where several wait")
        .option("--always", "and from now on this tool in this thread, without asking")
        .option("--deny", "don't: the run goes on without it")
        .option("--show", "only show what is asked, whole")
        .option("--thread <id>", "the thread whose run it is"),
    ),
    "heddle runs approve run_01M7Z0K5V2 --show",
    "heddle runs approve run_01M7Z0K5V2",
    "heddle runs approve run_01M7Z0K5V2 --deny",
  ).action(async (...args) => (await import("./run/approve.js")).approve(args[0], args[1], args[2]));
  examples(
    workspaceOptions(
      group
        .command("cancel")
        .description("end a run and keep what it said; one that waits is taken out of the queue")
        .argument("<run>", RUN)
        .option("--thread <id>", "the thread whose run it is"),
    ),
    "heddle runs cancel run_01M7Z0K5V2",
  ).action(async (...args) => (await import("./run/change.js")).cancel(args[0], args[1]));
  examples(
    workspaceOptions(
      group
        .command("steer")
        .description("give a run that is under way another message, which it gets with its next step")
        .argument("<run>", RUN)
        .argument("[text...]", "the message; - is standard input")
        .option("--thread <id>", "the thread whose run it is"),
    ),
    'heddle runs steer run_01M7Z0K5V2 "Leave the tests alone."',
  ).action(async (...args) => (await import("./run/change.js")).steer(args[0], args[1], args[2]));
}

function states(text: string): string[] {
  const given = text.split(",").map((word) => word.trim());
  const wrong = given.find((word) => !(RUN_STATUSES as string[]).includes(word));
  if (wrong === undefined) return given;
  throw new InvalidArgumentError(`There is no state '${wrong}'. It must be of: ${RUN_STATUSES.join(", ")}.`);
}
