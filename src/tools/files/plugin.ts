import type { Plugin } from "../plugin.js";
import { filesEdit } from "./edit.js";
import { filesList } from "./list.js";
import { filesRead } from "./read.js";
import { filesSearch } from "./search.js";
import { filesWrite } from "./write.js";

export const filesPlugin: Plugin = {
  id: "files",
  title: "Files",
  description: "Reads, searches, writes and edits the text files of the workspace.",
  tools: [filesRead, filesList, filesSearch, filesWrite, filesEdit],
  guide: `Paths are relative to the workspace's directory, or to the thread's worktree where it has one. Nothing outside it can be
reached, nor anything in \`.git\` or \`.agent\`.

1. \`files_list\` and \`files_search\` tell what is there; \`files_read\` shows it with line numbers.
2. \`files_edit\` replaces a piece that is in the file exactly once; copy it without the line numbers.
3. \`files_write\` writes a whole file. It takes the place of what was there.`,
};
