import { recent, sha256 } from "./agents-doc.js";

/** The examples of 001, letter for letter; ids, times and the shortened digests are placeholders. */

const ROOT_DOC = {
  id: "agd_000000000000000001",
  workspace_id: "ws_000000000000000001",
  status: "active",
  title: "AGENTS.md",
  content: "# Root instructions\n",
  content_sha256: "9f86d081884c7d659a2feaa0c55ad015...",
  version: 1,
  created_at: 1777900000,
  updated_at: 1777900000,
};

const FOLDER_DOC = {
  id: "agd_000000000000000001",
  workspace_id: "ws_000000000000000001",
  folder_id: "fld_000000000000000001",
  status: "active",
  title: "AGENTS.md",
  content: "# Backend instructions\n",
  content_sha256: "9f86d081884c7d659a2feaa0c55ad015...",
  version: 3,
  created_at: 1777900000,
  updated_at: 1777900300,
};

export const payload = { ...FOLDER_DOC, content: "# Backend instructions\n\n- Run cargo check.\n" };

export const summary = {
  id: "agd_000000000000000001",
  workspace_id: "ws_000000000000000001",
  folder_id: "fld_000000000000000001",
  status: "active",
  content_sha256: "9f86d081884c7d659a2feaa0c55ad015...",
  version: 3,
  char_count: 42,
  updated_at: 1777900300,
};

export const resolved = {
  doc: ROOT_DOC,
  source_path: [],
  inherited: true,
  resolved_for_folder_id: "fld_000000000000000001",
  resolved_at: 1777900400,
};

const scope = { workspace_id: "ws_000000000000000001", folder_id: "fld_000000000000000001" };

export const get = {
  request: {
    jsonrpc: "2.0",
    id: "aaaaaaaaaaaaaaaaaaaaa",
    method: "thread/agents_doc/get",
    params: scope,
  },
  response: {
    explicit: {
      id: "agd_000000000000000002",
      workspace_id: "ws_000000000000000001",
      folder_id: "fld_000000000000000001",
      status: "draft",
      title: "AGENTS.md",
      content: "",
      content_sha256: "e3b0c44298fc1c149afbf4c8996fb924...",
      version: 1,
      created_at: 1777900000,
      updated_at: 1777900000,
    },
    effective: resolved,
  },
};

export const getRoot = {
  jsonrpc: "2.0",
  id: "bbbbbbbbbbbbbbbbbbbbb",
  method: "thread/agents_doc/get",
  params: { workspace_id: "ws_000000000000000001" },
};

export const save = {
  request: {
    jsonrpc: "2.0",
    id: "ccccccccccccccccccccc",
    method: "thread/agents_doc/save",
    params: {
      ...scope,
      content: "# Backend instructions\n\n- Run cargo check.\n",
      expected_version: 2,
      save_reason: "autosave",
    },
  },
  response: { doc: payload },
};

export const archive = {
  request: {
    jsonrpc: "2.0",
    id: "ddddddddddddddddddddd",
    method: "thread/agents_doc/archive",
    params: { ...scope, expected_version: 3 },
  },
  response: {
    archived: true,
    effective: {
      ...resolved,
      doc: { ...ROOT_DOC, id: "agd_000000000000000010" },
      resolved_at: 1777900500,
    },
  },
};

export const resolveForThread = {
  request: {
    jsonrpc: "2.0",
    id: "eeeeeeeeeeeeeeeeeeeee",
    method: "thread/agents_doc/resolve_for_thread",
    params: { workspace_id: "ws_000000000000000001", thread_id: "thr_000000000000000001" },
  },
  response: {
    effective: {
      doc: FOLDER_DOC,
      source_folder_id: "fld_000000000000000001",
      source_path: ["Backend"],
      inherited: false,
      resolved_for_folder_id: "fld_000000000000000001",
      resolved_at: 1777900600,
    },
  },
};

export const tree = {
  workspace_id: "ws_000000000000000001",
  threads: [],
  folders: [],
  placements: [],
  agents_docs: [summary],
};

export const changed = {
  jsonrpc: "2.0",
  method: "thread/agents_doc/changed",
  params: {
    ...scope,
    doc: FOLDER_DOC,
    effective: resolveForThread.response.effective,
    effective_changed: true,
  },
};

/** An example as it must come from a gateway: ids put in, digests computed, times of this run. */
export function real<T>(example: T, ids: Readonly<Record<string, string>>): T {
  return fill(example, (key, value, holder) => {
    if (key.endsWith("_at")) return recent;
    if (key === "content_sha256" && "content" in holder) return sha256(String(holder.content));
    return typeof value === "string" ? (ids[value] ?? value) : value;
  });
}

/** An example with its shortened digests written out, so that a schema can check it. */
export function complete<T>(example: T): T {
  return fill(example, (key, value) => (key === "content_sha256" ? sha256(String(value)) : value));
}

type Change = (key: string, value: unknown, holder: Record<string, unknown>) => unknown;

function fill<T>(example: T, change: Change): T {
  if (typeof example !== "object" || example === null) return example;
  if (Array.isArray(example)) return example.map((item) => fill(item, change)) as T;
  const holder = example as Record<string, unknown>;
  const entries = Object.entries(holder).map(([key, value]) => {
    const plain = typeof value !== "object" || value === null;
    return [key, plain ? change(key, value, holder) : fill(value, change)];
  });
  return Object.fromEntries(entries) as T;
}
