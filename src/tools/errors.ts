import { failures } from "../base/index.js";

/** Why a tool can't be registered. What goes wrong with a call is its outcome. */
export type ToolError =
  | { kind: "tool.invalid_definition"; name: string; problem: string }
  | { kind: "tool.name_taken"; name: string }
  | { kind: "tool.name_reserved"; name: string }
  | { kind: "tool.no_capability"; name: string };

export const toolError = failures<ToolError>();
