import { failures } from "../base/index.js";

export type InstructionsFailure =
  | { kind: "version_conflict"; expected_version: number; actual_version: number | null }
  | { kind: "agents_doc.too_long"; char_count: number; limit: number }
  | { kind: "agents_doc.not_found"; doc_id: string }
  | { kind: "agents_doc.revision_not_found"; doc_id: string; version: number };

export const instructionsError = failures<InstructionsFailure>();
