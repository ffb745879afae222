import { type Command, Option } from "commander";
import { examples, wholeNumber, workspaceOptions } from "../options.js";

const THREAD = "the thread's id";

/** Each verb is loaded only when it is asked for. */
export function addThreads(program: Command): void {
  const group = program
    .command("threads")
    .summary("list, start, read, search, change or delete threads")
    .description("threads: conversations, each with one agent and each a directory of plain files");
  addLists(group);
  addReading(group);
  addStart(group);
  addWriting(group);
  addChanging(group);
  addRemoving(group);
}

function addLists(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("list")
        .description("list them, most recently updated first (what `heddle threads` does)")
        .option("--query <text>", "only those with this in the title")
        .option("--agent <agent>", "only those of this agent")
        .option("--folder <folder>", "only those directly in this folder")
        .option("--limit <number>", "how many at most", wholeNumber(1), 30),
    ),
    "heddle threads --query invoice",
    "heddle threads list --folder Backend/Payments --limit 100",
  ).action(async (options) => (await import("./thread/list.js")).list(options));
  examples(
    workspaceOptions(
      group
        .command("search")
        .description("find messages: every word must begin a word of the message; newest first")
        .argument("<query...>", "the words to look for")
        .option("--thread <id>", "only in this thread")
        .option("--limit <number>", "how many at most", wholeNumber(1), 20),
    ),
    "heddle threads search retry policy",
    "heddle threads search invoice --thread thr_01M7Z0K5V2 --limit 100",
  ).action(async (...args) => (await import("./thread/search.js")).search(args[0], args[1]));
}

function addReading(group: Command): void {
  workspaceOptions(
    verb(group, "show", "show one thread: where its files are, its worktree, its state"),
  ).action(async (...args) => (await import("./thread/show.js")).show(args[0], args[1]));
  examples(
    workspaceOptions(
      verb(group, "messages", "read a thread: its latest messages, oldest of them first")
        .option("--limit <number>", "how many messages at most", wholeNumber(1), 20)
        .option("--from-start", "the first messages instead of the latest"),
    ),
    "heddle threads messages thr_01M7Z0K5V2",
    "heddle threads messages thr_01M7Z0K5V2 --from-start --limit 500 | less",
  ).action(async (...args) => (await import("./thread/messages.js")).messages(args[0], args[1]));
}

function addStart(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("start")
        .description("make a thread")
        .option("--title <title>", "what it is about")
        .option("--folder <folder>", "where it goes (default: the root)")
        .option("--agent <agent>", "the agent that answers in it")
        .option("--worktree", "in a git worktree and branch of its own (default: what config.json says)")
        .option("--no-worktree", "in the project's own directory")
        .option("--no-wait", "do not wait until the worktree is set up"),
    ).addHelpText(
      "after",
      "\nA new worktree is set up by the project's hooks, if you have trusted them: `heddle trust` shows what they do.",
    ),
    'heddle threads start --folder Backend --title "Retry policy"',
    'heddle threads start --worktree --title "Try another parser"',
  ).action(async (options) => (await import("./thread/start.js")).start(options));
}

function addWriting(group: Command): void {
  examples(
    workspaceOptions(
      verb(group, "append", "record a message that was made elsewhere; no agent is asked")
        .argument("<text>", "what it says, or - for standard input")
        .addOption(
          new Option("--role <role>", "who says it").choices(["user", "agent", "system"]).default("user"),
        ),
    ),
    'heddle threads append thr_01M7Z0K5V2 "Use cents everywhere."',
    "git log -3 | heddle threads append thr_01M7Z0K5V2 - --role system",
  ).action(async (...args) => (await import("./thread/append.js")).append(args[0], args[1], args[2]));
  workspaceOptions(
    verb(group, "clear", "empty a thread; its old messages stay in a file beside it for 30 days").option(
      "--yes",
      "do not ask",
    ),
  ).action(async (...args) => (await import("./thread/clear.js")).clear(args[0], args[1]));
  workspaceOptions(
    verb(group, "unclear", "bring back what was cleared last, as long as nothing was said since"),
  ).action(async (...args) => (await import("./thread/clear.js")).unclear(args[0], args[1]));
}

function addChanging(group: Command): void {
  workspaceOptions(
    verb(group, "rename", "change the title of a thread").argument("<title>", "its new title"),
  ).action(async (...args) => (await import("./thread/change.js")).rename(args[0], args[1], args[2]));
  workspaceOptions(
    verb(group, "revoke", "ask again before tools that somebody allowed for good in a thread").argument(
      "[tool]",
      "only this one; `heddle threads show` lists them",
    ),
  ).action(async (...args) => (await import("./thread/change.js")).revoke(args[0], args[1], args[2]));
  workspaceOptions(verb(group, "pin", "keep a thread on top")).action(async (...args) =>
    (await import("./thread/change.js")).pin(args[0], true, args[1]),
  );
  workspaceOptions(verb(group, "unpin", "no longer keep a thread on top")).action(async (...args) =>
    (await import("./thread/change.js")).pin(args[0], false, args[1]),
  );
  workspaceOptions(
    verb(group, "move", "move a thread to a folder; its files stay where they are").argument(
      "<folder>",
      "path or id; / is the root",
    ),
  ).action(async (...args) => (await import("./thread/change.js")).move(args[0], args[1], args[2]));
}

function addRemoving(group: Command): void {
  workspaceOptions(
    verb(
      group,
      "delete",
      "remove a thread from every list and put its files into Heddle's bin; for 30 days both can come back",
    ).addHelpText(
      "after",
      "\nA worktree of its own stays: `heddle threads remove-worktree` removes it, before that.",
    ),
  ).action(async (...args) => (await import("./thread/remove.js")).remove(args[0], args[1]));
  workspaceOptions(
    verb(group, "undelete", "bring a deleted thread back to where it was, with its files"),
  ).action(async (...args) => (await import("./thread/remove.js")).undelete(args[0], args[1]));
  examples(
    workspaceOptions(
      verb(
        group,
        "remove-worktree",
        "remove a thread's git worktree; the thread stays, its files move to the project",
      ).option("--force", "although work that is not committed or not pushed is lost"),
    ),
    "heddle threads remove-worktree thr_01M7Z0K5V2",
  ).action(async (...args) => (await import("./thread/remove-worktree.js")).removeWorktree(args[0], args[1]));
}

function verb(group: Command, name: string, description: string): Command {
  return group.command(name).description(description).argument("<id>", THREAD);
}
