import { z } from "zod";
import { seq } from "./common.js";
import { workspaceId } from "./ids.js";
import { nameText, optionalParam, plainText } from "./text.js";

export const artifactKind = z.enum(["list", "note", "view"]);

export const artifactChangedNotification = z
  .object({
    workspace_id: workspaceId,
    kind: artifactKind,
    id: z.string().describe("of the list, note or view; items belong to their list"),
    change: z.enum(["created", "updated", "deleted"]),
    seq,
  })
  .describe("A list, note or view was made, changed or removed.");

/** What a panel shows, in the words of the context line. */
const panelContext = z.object({
  type: optionalParam(plainText.max(64)),
  id: optionalParam(plainText.max(128)),
  name: optionalParam(nameText),
  view_name: optionalParam(nameText),
  view_query: optionalParam(plainText.max(4_096)),
  selection: optionalParam(z.array(plainText.max(128)).max(1_000)).describe("ids of selected items"),
});

const panel = z.object({
  panel_id: plainText.min(1).max(128),
  panel_type: plainText.min(1).max(64).describe("`lists`, `notes`, `views` … for panels of artifacts"),
  panel_title: optionalParam(nameText),
  context: optionalParam(panelContext),
});

export const panelEventParams = {
  window_id: plainText.min(1).max(128).describe("chosen by the client: each window has its own panels"),
  payload: z.object({
    type: z.literal("panel_inventory"),
    panels: z.array(panel).max(100),
    selected_panel_id: optionalParam(plainText.max(128)),
  }),
};
