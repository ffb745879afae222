import { type ForeignDatabase, openForeign } from "../../store/index.js";
import { isObject, type Json, listOf, objectOf, textOf, wordOf } from "../values.js";
import { type KeptMessage, type KeptSession, keptMessage } from "./parts.js";

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
    return { info, raw: wordOf(info.title ?? ""), messages, close: () => database.close() };
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
    const texts = parts.map(({ data }) => wordOf(data));
    yield keptMessage(id, wordOf(row?.data), texts);
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
    const kept = keptMessage(wordOf(id), wordOf(row?.data), []);
    const parts = partsOf(kept.info);
    yield {
      ...kept,
      info: { ...kept.info, role: roleOf(row?.type), type: row?.type },
      parts: parts.filter(isObject),
      unread: kept.unread + parts.filter((part) => !isObject(part)).length,
      raw: [wordOf(row?.type), ...kept.raw],
    };
    await new Promise((done) => setImmediate(done));
  }
}

function roleOf(type: unknown): string {
  return type === "user" || type === "assistant" ? type : "system";
}

/** What the parts of the present version would be, and whatever else stands among them. */
function partsOf(data: Json): unknown[] {
  const parts = listOf(data.content).map((block) => {
    const tool = objectOf(block);
    return tool.type === "tool"
      ? { ...tool, callID: tool.id, tool: tool.name, state: stateOf(objectOf(tool.state)) }
      : block;
  });
  const said = textOf(data.text ?? data.summary ?? data.output);
  const files = listOf(data.files).map((file) => (isObject(file) ? { type: "file", ...file } : file));
  return [...(said === undefined ? [] : [{ type: "text", text: said }]), ...parts, ...files];
}

function stateOf(state: Json): Json {
  const texts = listOf(state.content).flatMap((block) => textOf(objectOf(block).text) ?? []);
  return { ...state, output: state.output ?? texts.join("\n") };
}
