import { toastProblem, toastUndo } from "../../state/toasts.js";
import { counted } from "../../ui/format.js";
import { readAgain, showItems } from "./data.js";
import { commandTool, type Item, openWorkspace } from "./tools.js";

/** One after the other: many at once would come to stand in any order. */
async function each(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (const item of items) await work(item);
}

async function attempted(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toastProblem(error);
    await readAgain();
    return false;
  }
}

const nameOf = (items: readonly Item[]) =>
  items.length === 1 ? `“${items[0]?.title}”` : counted(items.length, "item");

export async function markDone(items: readonly Item[], done: boolean): Promise<void> {
  const ids = new Set(items.map(({ id }) => id));
  showItems((all) => all.map((item) => (ids.has(item.id) ? { ...item, done } : item)));
  const ws = openWorkspace();
  const others = items.filter((item) => item.done !== done);
  await attempted(() => each(others, ({ id }) => commandTool("lists_item_update", { item: id, done }, ws)));
}

export async function removeItems(items: readonly Item[]): Promise<void> {
  const ws = openWorkspace();
  const ids = new Set(items.map(({ id }) => id));
  showItems((all) => all.filter(({ id }) => !ids.has(id)));
  const went = await attempted(() =>
    each(items, ({ id }) => commandTool("lists_item_remove", { item: id }, ws)),
  );
  if (!went) return;
  toastUndo(`Deleted ${nameOf(items)}`, () =>
    each(items, ({ id }) => commandTool("lists_restore", { id }, ws)),
  );
}

/** Moves items to another list. The way back leads to where each one stood. */
export async function moveItems(
  items: readonly Item[],
  from: { readonly id: string },
  to: { readonly id: string; readonly name: string },
): Promise<void> {
  const ws = openWorkspace();
  const went = await attempted(() =>
    each(items, ({ id }) => commandTool("lists_item_move", { item: id, to_list: to.id }, ws)),
  );
  if (!went) return;
  const back = ({ id, position }: Item) =>
    commandTool("lists_item_move", { item: id, to_list: from.id, ...(position && { position }) }, ws);
  toastUndo(`Moved ${nameOf(items)} to ${to.name}`, () => each(items, back));
}

/** Puts an item where another one stands. */
export async function putItem(item: Item, at: Item): Promise<void> {
  showItems((all) => reordered(all, item.id, at.id));
  await attempted(() => commandTool("lists_item_move", { item: item.id, position: at.position }));
}

function reordered(all: readonly Item[], id: string, at: string): readonly Item[] {
  const from = all.findIndex((item) => item.id === id);
  const to = all.findIndex((item) => item.id === at);
  const item = all[from];
  return item && to >= 0 ? all.toSpliced(from, 1).toSpliced(to, 0, item) : all;
}

/** Whether it was added: if not, what was typed stays. */
export function addItem(list: string, title: string): Promise<boolean> {
  return attempted(() => commandTool("lists_item_add", { list, items: [{ title }] }));
}

type ItemFields = Partial<Pick<Item, "title" | "notes" | "url" | "tags">>;

export async function changeItem(item: Item, fields: ItemFields): Promise<boolean> {
  const shown = (each: Item) => (each.id === item.id ? { ...each, ...fields } : each);
  showItems((all) => all.map(shown));
  return attempted(() => commandTool("lists_item_update", { item: item.id, ...fields }));
}

/** `Payments, 15 Nov` */
export function tagsOf(text: string): string[] {
  return text
    .split(",")
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "");
}
