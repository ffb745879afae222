import { unixSeconds } from "../base/index.js";
import { agentsDocs, notifications, type Unit } from "../store/index.js";
import type { FolderFollower, FolderScope } from "../tree/index.js";
import { docChanged } from "./announce.js";
import { markArchived } from "./archive.js";
import type { InstructionsDeps } from "./deps.js";
import { walkScope } from "./resolve.js";
import { effectDiffers } from "./scope.js";

/** Keeps documents true to their folders: a move may change what is in effect, a deletion archives the document. */
export function followFolders(deps: Pick<InstructionsDeps, "clock">): FolderFollower {
  return {
    *moving(scope, change) {
      const before = yield* walkFolder(scope);
      const result = yield* change;
      const after = yield* walkFolder(scope);
      if (!effectDiffers(before, after)) return result;
      const doc = yield* agentsDocs.findExplicitDoc(scope.workspace_id, scope.folder_id);
      const now = unixSeconds(deps.clock);
      yield* notifications.announce(scope.workspace_id, now, [
        docChanged(scope, { doc, before, after }, now),
      ]);
      return result;
    },
    *deleting(scope, call, change) {
      const before = yield* walkFolder(scope);
      const explicit = yield* agentsDocs.findExplicitDoc(scope.workspace_id, scope.folder_id);
      yield* change;
      if (!explicit) return [];
      const now = unixSeconds(deps.clock);
      const doc = yield* markArchived(explicit, now, call.actor);
      // The scope is gone, so nothing is in effect in it any more.
      const after: agentsDocs.Walk = { subject: null, levels: [] };
      yield* notifications.announce(scope.workspace_id, now, [
        docChanged(scope, { doc, before, after }, now),
      ]);
      return [doc.id];
    },
  };
}

function* walkFolder({ workspace_id, folder_id }: FolderScope): Unit<agentsDocs.Walk> {
  return yield* walkScope(workspace_id, { folder_id });
}
