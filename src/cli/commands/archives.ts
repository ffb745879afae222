import { type Command, Option } from "commander";
import { UsageError } from "../errors.js";
import { examples, workspaceOptions } from "../options.js";

/** Either one is loaded only when it is asked for. */
export function addArchives(program: Command): void {
  examples(
    workspaceOptions(
      program
        .command("export")
        .description("write a thread with its messages and images to one file, a tar.gz of its directory")
        .argument("<thread>", "the thread's id")
        .argument("[file]", "a file or a directory, or - for standard output (default: ./<thread>.tar.gz)")
        .option("--force", "replace a file that is there"),
    ),
    "heddle export thr_01M7Z0K5V2",
    "heddle export thr_01M7Z0K5V2 - | ssh elsewhere heddle import -",
  ).action(async (...args) =>
    (await import("./archives/export-thread.js")).exportThread(args[0], args[1], args[2]),
  );
  examples(
    workspaceOptions(
      program
        .command("import")
        .description(
          "take in threads: from archives, thread directories or projects, or sessions of another tool (--from); the originals stay",
        )
        .argument(
          "[path...]",
          "what `heddle export` wrote, a directory, or - for an archive on standard input; with --from a file or directory of the tool",
        )
        .addOption(
          new Option(
            "--from <tool>",
            "sessions of this tool, by default those of this workspace's directory",
          ).choices(["claude", "codex", "pi", "opencode"]),
        )
        .option("--all", "with --from: sessions of every directory, each into its own workspace")
        .option("--dry-run", "with --from: say what would be done, and do nothing"),
    ).addHelpText("after", IMPORT_HELP),
    "heddle import                                  what there is to import",
    "heddle import --from claude",
    "heddle import --from codex --all --dry-run",
    "heddle import thr_01M7Z0K5V2.tar.gz",
    "heddle import ~/old/project --workspace ~/src/shop",
  ).action(async (paths, options) => {
    if (options.from !== undefined)
      return (await import("./import/from-tool.js")).importFrom(options.from, paths, options);
    if (options.all || options.dryRun) throw new UsageError("--all and --dry-run go with --from");
    if (paths.length === 0) return (await import("./import/list-sources.js")).listSources(options);
    return (await import("./archives/import-threads.js")).importThreads(paths, options);
  });
}

const IMPORT_HELP = `
A thread whose id is there already stays as it is. Of a session that was imported before, what is new is appended; what
a thread has no place for is listed. Ends with 1 when something is invalid or a path is refused.`;
