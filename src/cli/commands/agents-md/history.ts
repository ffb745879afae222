import type { AgentsDocRevision } from "../../../protocol/index.js";
import { cliError, UsageError } from "../../errors.js";
import type { WorkspaceOptions } from "../../options.js";
import { formatTime, note, paint, paintErr, print, printJson, printTable, printText } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { tellSaved } from "./saved.js";
import { findScope, type Scope } from "./scope.js";

interface HistoryOptions extends WorkspaceOptions {
  readonly limit: number;
  readonly version?: number;
  readonly restore?: number;
  readonly doc?: string;
  readonly expectedVersion?: number;
}

const PAGE = 500;

export async function history(folder: string | undefined, options: HistoryOptions): Promise<void> {
  const { version, restore } = options;
  if (version !== undefined && restore !== undefined) {
    throw new UsageError("--version prints one and --restore brings one back: use one of them");
  }
  const work = restore !== undefined ? bringBack : version !== undefined ? printOne : list;
  const tell = await withSession(options, async (session) =>
    work(session, await findScope(session, folder), options),
  );
  tell();
}

type Work = (session: Session, scope: Scope, options: HistoryOptions) => Promise<() => void>;

const list: Work = async (session, scope, { limit, doc, json }) => {
  const { data, more } = await readRevisions(session, scope, limit, doc);
  return () => {
    if (json) return printJson({ data, more });
    if (data.length === 0) return print(paint.dim(`${scope.name} never had an AGENTS.md of its own.`));
    const several = data.some(({ doc_id }) => doc_id !== data[0]?.doc_id);
    const rows = data.map(({ doc_id, version, saved_at, saved_by = "", reason, char_count }) => [
      ...(several ? [paint.dim(doc_id)] : []),
      String(version),
      formatTime(saved_at),
      saved_by,
      reason,
      String(char_count),
    ]);
    printTable([...(several ? ["DOC"] : []), "VERSION", "SAVED", "BY", "REASON", "CHARACTERS"], rows);
    if (more) note(paintErr.dim(`There are more: --limit ${limit * 10}`));
  };
};

const printOne: Work = async ({ call }, scope, options) => {
  const version = options.version as number;
  const { workspace_id } = scope.params;
  const doc_id = await documentOf({ call }, scope, options, version);
  const { revision } = await call("thread/agents_doc/revision", { workspace_id, doc_id, version });
  return () => {
    if (options.json) return printJson({ revision });
    const { saved_at, saved_by, reason } = revision;
    const by = saved_by === undefined ? "" : ` by ${saved_by}`;
    note(
      paintErr.dim(
        `AGENTS.md of ${scope.name}, version ${version}, ${formatTime(saved_at)}${by} (${reason})`,
      ),
    );
    printText(revision.content);
  };
};

const bringBack: Work = async ({ call }, scope, options) => {
  const version = options.restore as number;
  const { expectedVersion } = options;
  const doc_id = await documentOf({ call }, scope, options, version);
  const { doc } = await call("thread/agents_doc/restore", {
    workspace_id: scope.params.workspace_id,
    doc_id,
    version,
    ...(expectedVersion !== undefined && { expected_version: expectedVersion }),
  });
  return () => {
    if (options.json) return printJson({ doc });
    tellSaved(scope, doc, version);
  };
};

/** A version number belongs to a document: the one that was named, else the latest the scope had. */
async function documentOf(
  session: Pick<Session, "call">,
  scope: Scope,
  { doc }: HistoryOptions,
  version: number,
): Promise<string> {
  if (doc !== undefined) return doc;
  if (scope.own) return scope.own.id;
  const { data } = await readRevisions(session, scope, 1);
  if (data[0]) return data[0].doc_id;
  throw cliError(
    { kind: "history.no_version", version },
    `${scope.name} never had an AGENTS.md of its own, so there is no version ${version} of it.`,
  );
}

/** Of all documents the scope had, or of one. */
async function readRevisions(
  { call }: Pick<Session, "call">,
  { params, name }: Scope,
  limit: number,
  doc?: string,
): Promise<{ data: AgentsDocRevision[]; more: boolean }> {
  const data: AgentsDocRevision[] = [];
  let left = false;
  let cursor: string | undefined;
  do {
    const page = await call("thread/agents_doc/revisions", {
      ...params,
      limit: doc === undefined ? Math.min(PAGE, limit - data.length) : PAGE,
      ...(cursor !== undefined && { cursor }),
    });
    const wanted = page.data.filter(({ doc_id }) => doc === undefined || doc_id === doc);
    left = wanted.length > limit - data.length;
    data.push(...wanted.slice(0, limit - data.length));
    cursor = page.next_cursor;
  } while (cursor !== undefined && data.length < limit);
  if (doc !== undefined && data.length === 0)
    throw cliError(
      { kind: "history.no_document", doc_id: doc },
      `${name} never had a document ${doc}. \`heddle agents-md history\` without --doc lists those it had.`,
    );
  return { data, more: left || cursor !== undefined };
}
