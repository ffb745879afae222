import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";
import { promptOptions } from "./run/prompt-option.js";

export function addFork(program: Command): void {
  const command = program
    .command("fork")
    .summary("begin a new thread from a message of another one")
    .description("make a new thread with the messages of another one, up to one of them, and print its id")
    .argument("<thread>", "the thread's id")
    .option("--message <id>", "the last message to take along (default: the last there is)")
    .option("--agent <agent>", "another agent")
    .option("--model <model>", "another model");
  examples(
    workspaceOptions(promptOptions(command, "for the new thread")),
    "heddle fork thr_01M7Z0K5V2 --model large",
    'heddle send --thread "$(heddle fork thr_01M7Z0K5V2 --agent reviewer)" "What did we miss?"',
  ).action(async (...args) => (await import("./run/fork.js")).fork(args[0], args[1]));
}
