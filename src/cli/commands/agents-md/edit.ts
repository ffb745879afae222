import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Result } from "../../../protocol/index.js";
import { cliError } from "../../errors.js";
import { formatFolderPath } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr, print, printJson } from "../../output.js";
import { withSession } from "../../session.js";
import { chooseEditor, runEditor } from "./editor.js";
import { tellSaved } from "./saved.js";
import { asArgument, findScope, type Scope } from "./scope.js";
import { readTextFile } from "./text-file.js";

interface EditOptions extends WorkspaceOptions {
  readonly inherited?: boolean;
}

interface Opened {
  readonly scope: Scope;
  readonly version: number;
  readonly text: string;
}

/** Opens a scope's own document in an editor and saves it on the version that was opened. No text is ever lost. */
export async function edit(folder: string | undefined, options: EditOptions): Promise<void> {
  const editor = chooseEditor();
  // The connection is not kept while the editor is open: a private gateway would lock everyone else out.
  const opened = await withSession(options, async (session) => {
    const scope = await findScope(session, folder);
    return open(scope, await session.call("thread/agents_doc/get", scope.params), options);
  });
  const directory = await mkdtemp(join(tmpdir(), "heddle-"));
  const file = join(directory, "AGENTS.md");
  await writeFile(file, opened.text, { mode: 0o600 });
  const discard = () => rm(directory, { recursive: true, force: true });

  const problem = await runEditor(editor, file);
  if (problem !== undefined) throw await editorFailed(problem, file, opened.text, discard);
  const text = await readTextFile(file).catch((error: unknown) => {
    throw notSaved(error, opened.scope, file);
  });
  if (text === opened.text) {
    await discard();
    if (options.json) return printJson({ saved: false });
    return print(`No change: the AGENTS.md of ${opened.scope.name} stays as it is.`);
  }
  const doc = await save(opened, text, options).catch((error: unknown) => {
    throw notSaved(error, opened.scope, file);
  });
  await discard();
  if (options.json) return printJson({ saved: true, doc });
  tellSaved(opened.scope, doc);
}

function open(
  scope: Scope,
  { explicit, effective }: Result<"thread/agents_doc/get">,
  { inherited }: EditOptions,
): Opened {
  if (explicit) return { scope, version: explicit.version, text: explicit.content };
  if (!effective) return { scope, version: 0, text: "" };
  if (inherited) return { scope, version: 0, text: effective.doc.content };
  const source = formatFolderPath(effective.source_path);
  const own = "One of its own replaces that one; --inherited starts from its text.";
  note(paintErr.dim(`${scope.name} has none yet and inherits that of ${source}. ${own}`));
  return { scope, version: 0, text: "" };
}

/** What was written until the editor failed stays in its file. */
async function editorFailed(problem: string, file: string, before: string, discard: () => Promise<void>) {
  const changed = (await readTextFile(file).catch(() => undefined)) !== before;
  if (!changed) await discard();
  return cliError(
    { kind: "edit.editor_failed", ...(changed && { kept: file }) },
    `${problem} Nothing was saved.${changed ? ` What you wrote is in ${file}` : ""}`,
  );
}

async function save({ scope, version }: Opened, content: string, options: EditOptions) {
  return withSession(options, async ({ call }) => {
    const params = { ...scope.params, content, expected_version: version, save_reason: "manual" } as const;
    return (await call("thread/agents_doc/save", params)).doc;
  });
}

function notSaved(error: unknown, { name }: Scope, kept: string) {
  const {
    message,
    kind = "internal",
    data,
  } = error as Error & {
    kind?: string;
    data?: { actual_version?: number | null };
  };
  const theirs = data?.actual_version ? `saved version ${data.actual_version}` : "archived it";
  const conflict = kind === "version_conflict";
  const folder = asArgument(name);
  const lines = [
    conflict ? `Someone ${theirs} while you were editing. Yours was not saved.` : `Not saved: ${message}`,
    `Your text is in ${kept}`,
    ...(conflict ? [`  see theirs:         heddle agents-md show ${folder}`] : []),
    `  save yours${conflict ? " over it" : ""}: heddle agents-md set ${folder} ${asArgument(kept)}`,
  ];
  return cliError({ kind: "edit.not_saved", kept, cause: kind }, lines.join("\n"), error);
}
