import { Command } from "commander";
import { VERSION } from "../base/index.js";
import { addServe } from "./commands/serve.js";

export function createProgram(): Command {
  const program = new Command("heddle")
    .description("A local-first gateway for AI agents: threads, instructions and prompts in one place.")
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError("(heddle --help lists the commands)");
  addServe(program);
  return program;
}
