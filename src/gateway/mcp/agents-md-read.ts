import { z } from "zod";
import type { AgentsDocResolved, Folder } from "../../protocol/index.js";
import { folderNotFound } from "../../tree/index.js";
import { answered, type ClientContext, defineClientTool, workspaceArgument } from "./client-tool.js";

/** What is in effect for a place in the tree, and where it comes from. */
export const agentsMdRead = defineClientTool({
  name: "agents_md_read",
  title: "Read AGENTS.md",
  description:
    "Reads the AGENTS.md instructions that are in effect for a thread or a folder, and tells which folder they come from.",
  parameters: z.strictObject({
    threadId: z.string().min(1).max(255).optional().describe("what this thread's agent is told"),
    folder: z
      .string()
      .max(4096)
      .optional()
      .describe("a folder, by its path (`Backend/Payments`) or its id; default: the root"),
    workspace: workspaceArgument,
  }),
  readOnly: true,
  async run({ threadId, folder, workspace }, context) {
    const effective =
      threadId === undefined
        ? await ofFolder(context, folder, workspace)
        : (await context.call("thread/agents_doc/resolve_for_thread", { thread_id: threadId })).effective;
    if (!effective) return answered({ message: "No AGENTS.md is in effect here." });
    return answered(shown(effective));
  },
});

async function ofFolder(
  { call, ...context }: ClientContext,
  folder: string | undefined,
  named: string | undefined,
): Promise<AgentsDocResolved | undefined> {
  const { id: workspace_id } = await context.workspace(named);
  const names = (folder ?? "").split("/").filter(Boolean);
  if (names.length === 0) return (await call("thread/agents_doc/get", { workspace_id })).effective;
  const { folders } = await call("thread/tree", { workspace_id });
  const folder_id = folders.find(({ id }) => id === folder)?.id ?? findByPath(folders, names);
  if (folder_id === undefined) throw folderNotFound(folder as string);
  return (await call("thread/agents_doc/get", { workspace_id, folder_id })).effective;
}

function findByPath(folders: readonly Folder[], names: readonly string[]): string | undefined {
  let at: string | undefined;
  for (const name of names) {
    const parent = at;
    at = folders.find((one) => one.parent_folder_id === parent && one.name === name)?.id;
    if (at === undefined) return undefined;
  }
  return at;
}

function shown({ doc, source_path, inherited }: AgentsDocResolved) {
  return {
    source: `/${source_path.join("/")}`,
    inherited,
    version: doc.version,
    updatedAt: new Date(doc.updated_at * 1000).toISOString(),
    content: doc.content,
  };
}
