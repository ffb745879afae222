import type { Plugin } from "../../plugin.js";
import type { ArtifactsDeps } from "../define.js";
import { notesList, notesRead, notesSearch } from "./read.js";
import { notesAppend, notesCreate, notesDelete, notesRestore, notesUpdate } from "./write.js";

export function notesPlugin(deps: ArtifactsDeps): Plugin {
  const make = [
    notesList,
    notesRead,
    notesSearch,
    notesCreate,
    notesUpdate,
    notesAppend,
    notesDelete,
    notesRestore,
  ];
  return {
    id: "notes",
    title: "Notes",
    description: "Notes with a title and text, shared by people and agents.",
    tools: make.map((tool) => tool(deps)),
    guide: GUIDE,
  };
}

const GUIDE = `A note can be named by id or by exact title; where a title is not unique, give the id.

- \`notes_search\` finds notes by words, \`notes_read\` gives the text of one.
- \`notes_append\` adds to a note. \`notes_update\` with \`content\` writes the whole text anew: read it first, and give the
  version you have read as \`expected_version\`, so that nobody's change is written over.
- What was deleted by mistake comes back with \`notes_restore\`.
`;
