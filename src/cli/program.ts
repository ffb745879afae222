import { Command } from "commander";
import { VERSION } from "../base/index.js";
import { addAgents } from "./commands/agents.js";
import { addAgentsMd } from "./commands/agents-md.js";
import { addArchives } from "./commands/archives.js";
import { addAtsf } from "./commands/atsf.js";
import { addDoctor } from "./commands/doctor.js";
import { addExplain } from "./commands/explain.js";
import { addFolders } from "./commands/folders.js";
import { addFork } from "./commands/fork.js";
import { addMcp } from "./commands/mcp.js";
import { addOpen } from "./commands/open.js";
import { addPrompts } from "./commands/prompts.js";
import { addReindex } from "./commands/reindex.js";
import { addReplay } from "./commands/replay.js";
import { addRuns } from "./commands/runs.js";
import { addSend } from "./commands/send.js";
import { addServe } from "./commands/serve.js";
import { addThreads } from "./commands/threads.js";
import { addTool } from "./commands/tool.js";
import { addTree } from "./commands/tree.js";
import { addTrust } from "./commands/trust.js";
import { addWorkspaces } from "./commands/workspaces.js";
import { paint } from "./output.js";

const AFTER_HELP = `
Examples:
  heddle                                    start the gateway and open its page
  heddle send "hello"                       ask an agent; the answer comes as it is written
  heddle explain                            what the model was told last, and why
  heddle tree                               folders, threads and AGENTS.md documents
  heddle threads search retry policy        find messages in every thread of this project
  heddle agents-md show Backend/Payments    what is in effect there, and where it comes from
  heddle agents-md edit Backend             write it in your editor

Commands use the gateway that is running; with none, they start a private one for as long as they take.
A folder is named by its path (\`Backend/Payments\`, \`/\` is the root) or its id.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage; \`send\`: 130 cancelled by Ctrl-C.`;

export function createProgram(): Command {
  const program = new Command("heddle")
    .description("A local-first gateway for AI agents: threads, instructions and prompts in one place.")
    .version(VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help for a command")
    .usage("[command] [options]")
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ styleTitle: paint.bold })
    // Failures are told in one place, with the same words whoever finds them.
    .configureOutput({ outputError: () => {} })
    .addHelpText("after", AFTER_HELP);
  addServe(program);
  addOpen(program);
  addSend(program);
  addExplain(program);
  addRuns(program);
  addReplay(program);
  addFork(program);
  addAgents(program);
  addTool(program);
  addMcp(program);
  addPrompts(program);
  addTree(program);
  addFolders(program);
  addThreads(program);
  addAgentsMd(program);
  addWorkspaces(program);
  addArchives(program);
  addTrust(program);
  addReindex(program);
  addAtsf(program);
  addDoctor(program);
  return program;
}
