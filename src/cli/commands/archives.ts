import type { Command } from "commander";
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
          "take in threads from archives, thread directories or whole projects; the originals stay",
        )
        .argument(
          "[path...]",
          "what `heddle export` wrote, a directory, or - for an archive on standard input",
        )
        .option("--from <tool>", "sessions of another tool (comes with a later version)"),
    ).addHelpText(
      "after",
      "\nA thread whose id is there already stays as it is. Ends with 1 when a thread is invalid or a path is refused.",
    ),
    "heddle import thr_01M7Z0K5V2.tar.gz",
    "heddle import ~/old/project --workspace ~/src/shop",
  ).action(async (...args) => (await import("./archives/import-threads.js")).importThreads(args[0], args[1]));
}
