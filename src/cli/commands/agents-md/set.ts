import { existsSync } from "node:fs";
import { UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { tellSaved } from "./saved.js";
import { asArgument, findScope } from "./scope.js";
import { readTextFile, readTextInput } from "./text-file.js";

interface SetOptions extends WorkspaceOptions {
  readonly text?: string;
  readonly expectedVersion?: number;
}

export async function set(
  folder: string | undefined,
  file: string | undefined,
  options: SetOptions,
): Promise<void> {
  const content = await given(folder, file, options);
  const { expectedVersion } = options;
  const { scope, doc } = await withSession(options, async (session) => {
    const scope = await findScope(session, folder);
    const { doc } = await session.call("thread/agents_doc/save", {
      ...scope.params,
      content,
      save_reason: "manual",
      ...(expectedVersion !== undefined && { expected_version: expectedVersion }),
    });
    return { scope, doc };
  });
  if (options.json) return printJson({ doc });
  tellSaved(scope, doc);
}

async function given(
  folder: string | undefined,
  file: string | undefined,
  options: SetOptions,
): Promise<string> {
  if (options.text !== undefined) {
    if (file !== undefined) throw new UsageError("Give a file or --text, not both");
    return options.text;
  }
  if (file !== undefined && file !== "-") return readTextFile(file);
  if (folder !== undefined && file === undefined && folder.endsWith(".md") && existsSync(folder)) {
    throw new UsageError(
      `${folder} is a file, and the folder comes first: heddle agents-md set / ${asArgument(folder)}`,
    );
  }
  if (process.stdin.isTTY === true) note(paintErr.dim("Type the text; Ctrl-D ends it."));
  return readTextInput();
}
