import type { Command } from "commander";
import { examples, wholeNumber, workspaceOptions } from "../options.js";

const SCOPE = "path or id of a folder (default: the root)";
const EXPECTED = "refuse unless this is the current version; 0: unless there is none";

/** Each verb is loaded only when it is asked for. */
export function addAgentsMd(program: Command): void {
  const group = program
    .command("agents-md")
    .summary("AGENTS.md instructions: show, edit, set, archive, history, import, export")
    .description(
      "standing instructions: an AGENTS.md at the root or on any folder; the nearest one with text counts",
    );
  addReading(group);
  addWriting(group);
  addFiles(group);
}

function addReading(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("show")
        .description("print what is in effect, where it comes from and what it overrides")
        .argument("[folder|thread]", "path or id of a folder, or id of a thread (default: the root)")
        .option("--text", "the text alone, to the letter"),
    ),
    "heddle agents-md show Backend/Payments",
    "heddle agents-md show Backend --text > AGENTS.md",
  ).action(async (...args) => (await import("./agents-md/show.js")).show(args[0], args[1]));
  examples(
    workspaceOptions(
      group
        .command("history")
        .description("list every version there was, print one, or bring one back")
        .argument("[folder]", SCOPE)
        .option("--limit <number>", "how many at most", wholeNumber(1), 20)
        .option("--version <number>", "print this version", wholeNumber(1))
        .option("--restore <number>", "save this version as the next one", wholeNumber(1))
        .option("--doc <id>", "of this document, when the folder had several (default: the latest)")
        .option("--expected-version <number>", `with --restore: ${EXPECTED}`, wholeNumber(0)),
    ),
    "heddle agents-md history Backend",
    "heddle agents-md history Backend --version 3",
    "heddle agents-md history Backend --restore 3",
  ).action(async (...args) => (await import("./agents-md/history.js")).history(args[0], args[1]));
}

function addWriting(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("edit")
        .description("write an AGENTS.md in your editor: $VISUAL, $EDITOR or vi")
        .argument("[folder]", SCOPE)
        .option("--inherited", "where there is none yet: start from the text it inherits"),
    ),
    "heddle agents-md edit Backend",
    'VISUAL="code --wait" heddle agents-md edit /',
  ).action(async (...args) => (await import("./agents-md/edit.js")).edit(args[0], args[1]));
  examples(
    workspaceOptions(
      group
        .command("set")
        .description("save the text of a file, or of standard input")
        .argument("[folder]", SCOPE)
        .argument("[file]", "a file, or - for standard input (the default)")
        .option("--text <text>", "the text itself")
        .option("--expected-version <number>", EXPECTED, wholeNumber(0)),
    ),
    "heddle agents-md set Backend AGENTS.md",
    "heddle agents-md set / < AGENTS.md",
    'heddle agents-md set Backend/Payments --text "Amounts are in cents."',
  ).action(async (...args) => (await import("./agents-md/set.js")).set(args[0], args[1], args[2]));
  workspaceOptions(
    group
      .command("archive")
      .description("take an AGENTS.md out of the tree; what is inherited counts again, its history stays")
      .argument("[folder]", SCOPE)
      .option("--expected-version <number>", EXPECTED, wholeNumber(0)),
  ).action(async (...args) => (await import("./agents-md/archive.js")).archive(args[0], args[1]));
}

function addFiles(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("import")
        .description("take over every AGENTS.md of a directory, each to the folder with the same path")
        .argument("<dir>", "the directory to look through")
        .option("--dry-run", "only say what would be done"),
    ).addHelpText(
      "after",
      "\nFolders that are missing are made. Hidden directories, node_modules and links to directories are left out.",
    ),
    "heddle agents-md import . --dry-run",
    "heddle agents-md import ~/src/shop",
  ).action(async (...args) => (await import("./agents-md/import.js")).importFiles(args[0], args[1]));
  examples(
    workspaceOptions(
      group
        .command("export")
        .description("write every AGENTS.md to a directory, each to the path of its folder")
        .argument("<dir>", "the directory to write to; it is made if need be")
        .option("--dry-run", "only say what would be done")
        .option("--force", "replace files that differ"),
    ),
    "heddle agents-md export ./instructions",
  ).action(async (...args) => (await import("./agents-md/export.js")).exportFiles(args[0], args[1]));
}
