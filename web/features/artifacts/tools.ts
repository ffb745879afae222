import { call, command } from "../../state/gateway.js";
import type { ArtifactKind } from "../../state/panels.js";
import { useTree } from "../../state/tree.js";

export interface Item {
  readonly id: string;
  readonly title: string;
  readonly done: boolean;
  readonly tags?: readonly string[];
  readonly notes?: string;
  readonly url?: string;
  /** From 1, in its list; a view's items have none. */
  readonly position?: number;
  /** Of a view's items: where they stand. */
  readonly list?: string;
  readonly list_id?: string;
}

export interface List {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly items: readonly Item[];
}

export interface Note {
  readonly id: string;
  readonly title: string;
  readonly version: number;
  readonly content: string;
}

export interface View {
  readonly id: string;
  readonly name: string;
  readonly query: string;
  readonly items: readonly Item[];
}

/** What can be opened. */
export interface Named {
  readonly kind: ArtifactKind;
  readonly id: string;
  readonly name: string;
  readonly query?: string;
}

/** A tool said no, in words that a person can read. Asking again gets the same. */
export class ToolRefused extends Error {}

/** The workspace that is open now. What may still be asked for when another one is must remember its own. */
export const openWorkspace = (): string | undefined => useTree.getState().ws;

/** Calls a tool as the person: without a thread, so within nobody's scope but their own. */
export async function callTool<T>(name: string, given: object, workspace_id = openWorkspace()): Promise<T> {
  return outputOf(call, name, given, workspace_id);
}

/** As `callTool`, for what the person commands: without a connection it is refused. */
export async function commandTool<T>(name: string, given: object, ws = openWorkspace()): Promise<T> {
  return outputOf(command, name, given, ws);
}

async function outputOf<T>(
  by: typeof call,
  name: string,
  given: object,
  workspace_id: string | undefined,
): Promise<T> {
  if (workspace_id === undefined) throw new ToolRefused("No workspace is open.");
  const result = await by("tool/call", { workspace_id, name, arguments: { ...given } });
  if (result.status === "failed") throw new ToolRefused(result.output);
  return JSON.parse(result.output) as T;
}

/** As many as one answer may hold. */
const PAGE = 500;
/** More than any workspace has. */
const MOST_PAGES = 100;

interface Paged {
  readonly next_offset?: number;
}

/** Every page of an answer. */
async function pages<T extends Paged>(
  name: string,
  given: object,
  ws: string | undefined,
): Promise<readonly [T, ...T[]]> {
  const first = await callTool<T>(name, { ...given, limit: PAGE }, ws);
  const all: [T, ...T[]] = [first];
  for (let next = first.next_offset; next !== undefined && all.length < MOST_PAGES; ) {
    const page = await callTool<T>(name, { ...given, limit: PAGE, offset: next }, ws);
    all.push(page);
    next = page.next_offset;
  }
  return all;
}

export async function readList(id: string, ws?: string): Promise<List> {
  const all = await pages<List & Paged>("lists_get", { list: id }, ws);
  return { ...all[0], items: all.flatMap(({ items }) => items) };
}

export async function readView(id: string, ws?: string): Promise<View> {
  const all = await pages<View & Paged>("views_get", { view: id }, ws);
  return { ...all[0], items: all.flatMap(({ items }) => items) };
}

interface NotePart extends Note {
  readonly next_from_char?: number;
}

export async function readNote(id: string, ws = openWorkspace()): Promise<Note> {
  const { next_from_char, ...first } = await callTool<NotePart>("notes_read", { note: id }, ws);
  let content = first.content;
  for (let from = next_from_char; from !== undefined; ) {
    const part = await callTool<NotePart>("notes_read", { note: id, from_char: from }, ws);
    // Of a note that changed between two parts neither text would be right.
    if (part.version !== first.version) return readNote(id, ws);
    content += part.content;
    from = part.next_from_char;
  }
  return { ...first, content };
}

/** Everything that can be opened. A plugin that is switched off has nothing. */
export async function readNames(ws?: string): Promise<readonly Named[]> {
  const some = <T>(reading: Promise<T[]>) =>
    reading.catch((error: unknown) => {
      if (error instanceof ToolRefused) return [];
      throw error;
    });
  const [lists, notes, views] = await Promise.all([
    some(
      pages<{ lists: { id: string; name: string }[] } & Paged>("lists_list", {}, ws).then((all) =>
        all.flatMap((page) => page.lists),
      ),
    ),
    some(
      pages<{ notes: { id: string; title: string }[] } & Paged>("notes_list", {}, ws).then((all) =>
        all.flatMap((page) => page.notes),
      ),
    ),
    some(
      pages<{ views: { id: string; name: string; query: string }[] } & Paged>("views_list", {}, ws).then(
        (all) => all.flatMap((page) => page.views),
      ),
    ),
  ]);
  return [
    ...lists.map(({ id, name }) => ({ kind: "list" as const, id, name })),
    ...notes.map(({ id, title }) => ({ kind: "note" as const, id, name: title })),
    ...views.map(({ id, name, query }) => ({ kind: "view" as const, id, name, query })),
  ];
}
