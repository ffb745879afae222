import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sqliteDriver } from "../../src/base/index.js";

/** Sessions written by hand, as the tools write them: enough of each line for what a test is about. */

export const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").toString("base64");

export type Line = Record<string, unknown>;

export const at = (minute: number) => new Date(Date.UTC(2026, 0, 2, 10, minute)).toISOString();

export function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export function jsonl(path: string, lines: readonly (Line | string)[]): string {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  return write(path, text.map((line) => `${line}\n`).join(""));
}

/** Claude Code: `uuid` and `parentUuid` are letters here. */
export class Claude {
  readonly lines: (Line | string)[] = [];
  #minute = 0;

  constructor(
    readonly home: string,
    readonly cwd: string,
    readonly id = "11111111-1111-4111-8111-111111111111",
  ) {}

  get path(): string {
    return join(this.home, ".claude/projects", this.cwd.replaceAll(/[/. ~]/g, "-"), `${this.id}.jsonl`);
  }

  add(type: string, uuid: string, parentUuid: string | null, more: Line = {}): this {
    const common = {
      cwd: this.cwd,
      sessionId: this.id,
      version: "2.1.0",
      gitBranch: "topic",
      isSidechain: false,
    };
    this.lines.push({ type, uuid, parentUuid, timestamp: at(this.#minute++), ...common, ...more });
    return this;
  }

  user(uuid: string, parentUuid: string | null, content: unknown, more: Line = {}): this {
    return this.add("user", uuid, parentUuid, { message: { role: "user", content }, ...more });
  }

  answer(uuid: string, parentUuid: string | null, content: unknown[], more: Line = {}): this {
    const { id = `msg_${uuid}`, stop_reason = "end_turn", ...rest } = more;
    const usage = {
      input_tokens: 10,
      output_tokens: 5,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
    };
    const message = { id, role: "assistant", model: "claude-test", content, usage, stop_reason };
    return this.add("assistant", uuid, parentUuid, { message, ...rest });
  }

  /** Of a call, by its id. */
  result(
    uuid: string,
    parentUuid: string,
    [call, content]: readonly [string, unknown],
    more: Line = {},
  ): this {
    const { is_error, ...rest } = more;
    const block = {
      type: "tool_result",
      tool_use_id: call,
      content,
      ...(is_error !== undefined && { is_error }),
    };
    return this.user(uuid, parentUuid, [block], rest);
  }

  save(): this {
    jsonl(this.path, this.lines);
    return this;
  }
}

export const text = (words: string) => ({ type: "text", text: words });
export const toolUse = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });

/** Codex. */
export class Codex {
  readonly lines: (Line | string)[] = [];
  #minute = 0;

  constructor(
    readonly home: string,
    readonly cwd: string,
    readonly id = "22222222-2222-7222-8222-222222222222",
    more: Line = {},
  ) {
    const git = { branch: "topic", commit_hash: "abc123" };
    this.add("session_meta", { id, timestamp: at(0), cwd, cli_version: "0.166.0", git, ...more });
  }

  get path(): string {
    return join(this.home, `.codex/sessions/2026/01/02/rollout-2026-01-02T10-00-00-${this.id}.jsonl`);
  }

  add(type: string, payload: Line): this {
    this.lines.push({ timestamp: at(this.#minute++), type, payload });
    return this;
  }

  item(payload: Line): this {
    return this.add("response_item", payload);
  }

  event(payload: Line): this {
    return this.add("event_msg", payload);
  }

  user(message: string): this {
    this.item({ type: "message", role: "user", content: [{ type: "input_text", text: message }] });
    return this.event({ type: "user_message", message });
  }

  says(words: string): this {
    return this.item({ type: "message", role: "assistant", content: [{ type: "output_text", text: words }] });
  }

  calls(call_id: string, name: string, given: object): this {
    return this.item({ type: "function_call", name, arguments: JSON.stringify(given), call_id });
  }

  output(call_id: string, output: unknown): this {
    return this.item({ type: "function_call_output", call_id, output });
  }

  ends(): this {
    return this.event({ type: "task_complete" });
  }

  save(): this {
    jsonl(this.path, this.lines);
    return this;
  }
}

/** pi: ids are letters here. */
export class Pi {
  readonly lines: (Line | string)[] = [];
  #minute = 1;

  constructor(
    readonly home: string,
    readonly cwd: string,
    readonly id = "33333333-3333-7333-8333-333333333333",
    more: Line = {},
  ) {
    this.lines.push({ type: "session", version: 3, id, timestamp: at(0), cwd, ...more });
  }

  get path(): string {
    const folder = `--${this.cwd.slice(1).replaceAll(/[/\\:]/g, "-")}--`;
    return join(this.home, ".pi/agent/sessions", folder, `2026-01-02T10-00-00-000Z_${this.id}.jsonl`);
  }

  add(type: string, id: string, parentId: string | null, more: Line): this {
    this.lines.push({ type, id, parentId, timestamp: at(this.#minute++), ...more });
    return this;
  }

  message(id: string, parentId: string | null, message: Line): this {
    return this.add("message", id, parentId, { message });
  }

  user(id: string, parentId: string | null, content: unknown): this {
    return this.message(id, parentId, { role: "user", content });
  }

  answer(id: string, parentId: string | null, content: unknown[], more: Line = {}): this {
    const usage = { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 };
    return this.message(id, parentId, {
      role: "assistant",
      content,
      model: "pi-test",
      usage,
      stopReason: "stop",
      ...more,
    });
  }

  save(): this {
    jsonl(this.path, this.lines);
    return this;
  }
}

/** opencode, in the database of the present version. */
export class Opencode {
  #at = 1_767_348_000_000;

  constructor(
    readonly home: string,
    readonly cwd: string,
    readonly id = "ses_test",
  ) {}

  get path(): string {
    return join(this.home, ".local/share/opencode/opencode.db");
  }

  /** Makes the database and the session. */
  begin(more: Line = {}): this {
    mkdirSync(dirname(this.path), { recursive: true });
    this.sql("pragma journal_mode = wal");
    this.sql(
      "create table if not exists session (id text primary key, project_id text, parent_id text, directory text, title text, version text, revert text, time_created integer, time_updated integer)",
    );
    this.sql(
      "create table if not exists message (id text primary key, session_id text, time_created integer, data text)",
    );
    this.sql(
      "create table if not exists part (id text primary key, message_id text, session_id text, data text)",
    );
    const { parent_id = null, title = "A title", revert = null } = more;
    this.sql(
      "insert into session (id, parent_id, directory, title, version, revert, time_created, time_updated) values (?, ?, ?, ?, ?, ?, ?, ?)",
      this.id,
      parent_id,
      this.cwd,
      title,
      "1.18.0",
      revert,
      this.#at,
      this.#at,
    );
    return this;
  }

  /** Its messages in the table of the next version, in the place of those that were there. */
  nextRows(rows: readonly (readonly [type: string, data: unknown])[]): this {
    this.sql(
      "create table if not exists session_message (id text, session_id text, type text, seq integer, data text)",
    );
    this.sql("delete from session_message");
    for (const [seq, [type, data]] of rows.entries())
      this.sql(
        "insert into session_message values (?, ?, ?, ?, ?)",
        `s${seq}`,
        this.id,
        type,
        seq,
        JSON.stringify(data),
      );
    return this;
  }

  message(id: string, info: Line, parts: readonly Line[]): this {
    const time = { created: this.#at, completed: this.#at + 500 };
    this.#at += 1_000;
    this.sql(
      "insert into message (id, session_id, time_created, data) values (?, ?, ?, ?)",
      id,
      this.id,
      time.created,
      JSON.stringify({ time, ...info }),
    );
    for (const [index, part] of parts.entries()) {
      this.sql(
        "insert into part (id, message_id, session_id, data) values (?, ?, ?, ?)",
        `${id}_prt_${index}`,
        id,
        this.id,
        JSON.stringify(part),
      );
    }
    this.sql("update session set time_updated = ? where id = ?", this.#at, this.id);
    return this;
  }

  sql(statement: string, ...values: unknown[]): unknown[] {
    const driver = sqliteDriver();
    const handle = driver.open(this.path);
    try {
      return handle.prepare(statement).all(...(driver.name === "libsql" ? [values] : values));
    } finally {
      handle.close();
    }
  }
}
