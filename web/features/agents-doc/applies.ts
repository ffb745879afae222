import type { Folder, Thread } from "../../../src/protocol/index.js";
import { ROOT, type Tree } from "../../state/tree.js";

/** Who follows a scope's document, because nothing nearer has text. In display order, threads that are under way first. */
export interface Followers {
  readonly folders: readonly { readonly folder: Folder; readonly hasDraft: boolean }[];
  readonly threads: readonly Thread[];
}

export function followersOf(tree: Tree, scope: string | undefined): Followers {
  const folders: { folder: Folder; hasDraft: boolean }[] = [];
  const threads: Thread[] = [];
  const visit = (key: string) => {
    const children = tree.children.get(key);
    for (const id of children?.threads ?? []) {
      const thread = tree.threads.get(id);
      if (thread) threads.push(thread);
    }
    for (const id of children?.folders ?? []) {
      const folder = tree.folders.get(id);
      const own = tree.docs.get(id);
      if (!folder || own?.status === "active") continue;
      folders.push({ folder, hasDraft: own !== undefined });
      visit(id);
    }
  };
  visit(scope ?? ROOT);
  return { folders, threads: threads.toSorted((a, b) => Number(isBusy(b)) - Number(isBusy(a))) };
}

export function isBusy({ status }: Thread): boolean {
  return status !== "idle";
}
