import { spawn } from "node:child_process";
import { UsageError } from "../../errors.js";

/** The person's editor: `$VISUAL`, `$EDITOR`, or vi where there is a terminal for it. */
export function chooseEditor(): string {
  const chosen = process.env.VISUAL || process.env.EDITOR;
  if (chosen) return chosen;
  if (process.stdin.isTTY === true && process.stdout.isTTY === true) return "vi";
  throw new UsageError(
    "There is no terminal for an editor: set VISUAL or EDITOR, or use `heddle agents-md set`",
  );
}

/** Opens a file in an editor and waits for it to end. Answers what went wrong, if something did. */
export async function runEditor(editor: string, file: string): Promise<string | undefined> {
  // Ctrl-C in the editor reaches every process of the terminal: it is the editor's to deal with.
  const ignore = () => {};
  process.on("SIGINT", ignore);
  process.on("SIGQUIT", ignore);
  // Through a shell, so that `code --wait` works; the file is an argument and never part of the script.
  const child = spawn("sh", ["-c", `${editor} "$@"`, "sh", file], { stdio: "inherit" });
  try {
    return await new Promise<string | undefined>((resolve) => {
      child.on("error", (error) => resolve(`The editor could not be started: ${error.message}.`));
      child.on("exit", (code, signal) => resolve(problem(editor, code, signal)));
    });
  } finally {
    process.off("SIGINT", ignore);
    process.off("SIGQUIT", ignore);
  }
}

function problem(editor: string, code: number | null, signal: string | null): string | undefined {
  if (code === 0) return undefined;
  if (code === 127) return `The editor \`${editor}\` was not found; set VISUAL or EDITOR.`;
  return `The editor \`${editor}\` ended with ${signal ?? code}.`;
}
