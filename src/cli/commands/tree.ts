import type { Command } from "commander";
import type { AgentsDocSummary, Thread } from "../../protocol/index.js";
import { docsByFolder, Folders, formatFolderPath, formatName, type Tree } from "../folder-path.js";
import { examples, type WorkspaceOptions, workspaceOptions } from "../options.js";
import { paint, print, printJson } from "../output.js";
import { withSession } from "../session.js";

export function addTree(program: Command): void {
  const command = program
    .command("tree")
    .description("draw the tree: folders, threads and AGENTS.md documents")
    .argument("[folder]", "only this folder and what is below it");
  examples(workspaceOptions(command), "heddle tree", "heddle tree Backend/Payments").action(tree);
}

async function tree(folder: string | undefined, options: WorkspaceOptions): Promise<void> {
  const { workspace, whole } = await withSession(options, async (session) => {
    const workspace = await session.workspace();
    return { workspace, whole: await session.call("thread/tree", { workspace_id: workspace.id }) };
  });
  const folders = new Folders(whole.folders);
  const top = folder === undefined ? undefined : folders.find(folder);
  if (options.json) return printJson(top ? below(whole, folders, top.id) : whole);
  const title = top ? formatFolderPath(folders.pathOf(top.id)) : workspace.name;
  const lines = drawTree(whole, folders, top?.id);
  print(`${paint.bold(title)}  ${paint.dim(top?.id ?? workspace.id)}`, ...lines);
  if (lines.length === 0) print(paint.dim("(empty)"));
}

/** The part of a tree that a folder holds, itself included, in the shape of the whole. */
function below(whole: Tree, folders: Folders, id: string): Tree {
  const kept = new Set([id, ...[...folders.all(id)].map((each) => each.id)]);
  const isKept = ({ folder_id }: { folder_id?: string | undefined }) =>
    folder_id !== undefined && kept.has(folder_id);
  return {
    ...whole,
    folders: whole.folders.filter((each) => kept.has(each.id)),
    threads: whole.threads.filter(isKept),
    placements: whole.placements.filter(isKept),
    agents_docs: whole.agents_docs.filter(isKept),
  };
}

function drawTree(whole: Tree, folders: Folders, top: string | undefined): string[] {
  const docs = docsByFolder(whole);
  const threads = groupByFolder(whole.threads);
  const draw = (id: string | undefined): string[] => {
    const doc = docs.get(id);
    const rows = [
      ...(doc ? [[drawDoc(doc)]] : []),
      ...folders.children(id).map((each) => [`${paint.blue(formatName(each.name))}/`, ...draw(each.id)]),
      ...(threads.get(id) ?? []).map((each) => [drawThread(each)]),
    ];
    return rows.flatMap(([first = "", ...rest], index) => {
      const last = index === rows.length - 1;
      return [
        `${paint.dim(last ? "└─ " : "├─ ")}${first}`,
        ...rest.map((line) => `${paint.dim(last ? "   " : "│  ")}${line}`),
      ];
    });
  };
  return draw(top);
}

function groupByFolder(threads: readonly Thread[]): Map<string | undefined, Thread[]> {
  const groups = new Map<string | undefined, Thread[]>();
  for (const thread of threads) {
    const group = groups.get(thread.folder_id);
    if (group) group.push(thread);
    else groups.set(thread.folder_id, [thread]);
  }
  return groups;
}

function drawDoc({ status, version }: AgentsDocSummary): string {
  const mark = status === "draft" ? paint.yellow("draft") : paint.green(`version ${version}`);
  return `AGENTS.md  ${mark}`;
}

function drawThread({ title, id, pinned_at }: Thread): string {
  return `${title}  ${paint.dim(id)}${pinned_at === undefined ? "" : `  ${paint.magenta("pinned")}`}`;
}
