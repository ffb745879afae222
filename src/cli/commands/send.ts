import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";
import { promptOptions } from "./run/prompt-option.js";

const AFTER_HELP = `
A message starts a new thread, unless --thread or --continue names one. Its words go out as they stand; \`-\` stands for
standard input, which is read only then (or when there are no words), and set apart by an empty line.
Standard output gets the answer and a line end, nothing else. Ctrl-C cancels and keeps what came; a second one leaves at once.

When the agent wants to call a tool that needs your word, you are asked. Without a terminal the command ends and the run
waits: \`heddle runs approve RUN\` answers it, from anywhere.

Exit codes: 0 completed, 1 failed, interrupted or waiting for an approval, 130 cancelled by Ctrl-C.`;

export function addSend(program: Command): void {
  const command = program
    .command("send")
    .summary("ask an agent; the answer comes as it is written")
    .description("send a message to an agent and print its answer while it is written")
    .argument("[text...]", "the message; - is standard input")
    .option("--thread <id>", "go on in this thread")
    .option("--continue", "go on in the latest thread of the workspace, or of --agent")
    .option("--new", "start a new thread (what it does anyway)")
    .option("--agent <agent>", "the agent of the new thread; `heddle agents` lists them")
    .option("--folder <folder>", "where the new thread goes (default: the root)")
    .option("--model <model>", "another model, for this message")
    .option("--approve <what>", "tools that need your word: ask (on a terminal), all or none", "ask");
  examples(
    workspaceOptions(
      promptOptions(command, "for this message").option(
        "--thinking",
        "show on the terminal what the model thinks",
      ),
    ).addHelpText("after", AFTER_HELP),
    'heddle send "hello"',
    'heddle send --continue "and in French?"',
    'git diff | heddle send "Review this:" -',
    'heddle send --folder Backend --agent reviewer --prompt-file strict.md "Look at src/pay.ts" > review.md',
  ).action(async (...args) => (await import("./run/send.js")).send(args[0], args[1]));
}
