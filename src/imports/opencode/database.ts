import { type ForeignDatabase, openForeign } from "../../store/index.js";
import { type Json, wordOf } from "../values.js";
import { type KeptMessage, type KeptSession, parsed } from "./parts.js";

/** Every session of a database, without its messages. */
export function sessionsIn(path: string): Json[] {
  const database = openForeign(path);
  try {
    return database.all("select id, directory, time_updated from session order by id");
  } finally {
    database.close();
  }
}

/** One session of a database. Its messages are read one by one. */
export function sessionFrom(path: string, id: string): KeptSession {
  const database = openForeign(path);
  try {
    const [info] = database.all("select * from session where id = ?", id);
    if (!info) throw new Error("it is not there any more");
    const first = messageIds(database, id);
    const messages = first.length > 0 ? () => inParts(database, first) : () => inOneRow(database, id);
    return { info, messages, close: () => database.close() };
  } catch (error) {
    database.close();
    throw error;
  }
}

function messageIds(database: ForeignDatabase, session: string): string[] {
  const rows = database.all("select id from message where session_id = ? order by time_created, id", session);
  return rows.map(({ id }) => wordOf(id));
}

async function* inParts(database: ForeignDatabase, ids: readonly string[]): AsyncGenerator<KeptMessage> {
  for (const id of ids) {
    const [row] = database.all("select data from message where id = ?", id);
    const parts = database.all("select data from part where message_id = ? order by id", id);
    yield { id, info: parsed(row?.data) ?? {}, parts: parts.map(({ data }) => parsed(data) ?? {}) };
    // One query after the other would keep everyone else waiting.
    await new Promise((done) => setImmediate(done));
  }
}

/** The next version keeps a message whole, in a table that older databases do not have. */
async function* inOneRow(database: ForeignDatabase, session: string): AsyncGenerator<KeptMessage> {
  const [table] = database.all("select name from sqlite_master where name = 'session_message'");
  if (!table) return;
  const rows = database.all("select id from session_message where session_id = ? order by seq, id", session);
  for (const { id } of rows) {
    const [row] = database.all("select type, data from session_message where id = ?", wordOf(id));
    const data = parsed(row?.data) ?? {};
    yield {
      id: wordOf(id),
      info: { ...data, role: roleOf(row?.type), type: row?.type },
      parts: partsOf(data),
    };
    await new Promise((done) => setImmediate(done));
  }
}

function roleOf(type: unknown): string {
  return type === "user" || type === "assistant" ? type : "system";
}

/** What the parts of the present version would be. */
function partsOf(data: Json): Json[] {
  const content = Array.isArray(data.content) ? data.content : [];
  const parts = content.map((block) => {
    const tool = block as Json | undefined;
    return tool?.type === "tool"
      ? { ...tool, callID: tool.id, tool: tool.name, state: stateOf(tool) }
      : block;
  });
  const said = data.text ?? data.summary ?? data.output;
  const files = (Array.isArray(data.files) ? data.files : []).map((file) => ({
    type: "file",
    ...(file as Json),
  }));
  return [...(typeof said === "string" ? [{ type: "text", text: said }] : []), ...parts, ...files] as Json[];
}

function stateOf({ state }: Json): Json {
  const given = (state ?? {}) as Json;
  const content = Array.isArray(given.content) ? given.content : [];
  const texts = content.flatMap((block) => (block as Json | undefined)?.text ?? []);
  return { ...given, output: given.output ?? texts.join("\n") };
}
