import { parseEvent } from "../../src/journal/index.js";
import type { RunEvent } from "../../src/runs/fold/events.js";
import { project } from "../../src/runs/fold/project.js";
import { reduce } from "../../src/runs/fold/reduce.js";
import { IDLE, type RunsState } from "../../src/runs/fold/state.js";
import type { RunRow } from "../../src/store/index.js";
import { locationOf, type Row, runSql } from "../contract/support/stage.js";
import type { RunStage } from "./runs.js";

export interface ThreadKey {
  readonly workspace_id: string;
  readonly thread_id: string;
}

/** A journal as it is kept, for those who look at it or tamper with it past the gateway. */
export class RawJournal {
  readonly #location: string;
  readonly #where: string;

  constructor(
    stage: RunStage,
    readonly key: ThreadKey,
  ) {
    this.#location = locationOf(stage.kind, stage.gateway().place);
    this.#where = `workspace_id = '${key.workspace_id}' and thread_id = '${key.thread_id}'`;
  }

  sql(statement: string): Promise<Row[]> {
    return runSql(this.#location, statement);
  }

  async events(): Promise<{ seq: number; body: string; hash: string }[]> {
    const rows = await this.sql(
      `select seq, body, hash from journal_event where ${this.#where} order by seq`,
    );
    return rows.map(({ seq, body, hash }) => ({ seq: Number(seq), body: String(body), hash: String(hash) }));
  }

  async runs(): Promise<RunRow[]> {
    const rows = await this.sql(`select * from run where ${this.#where} order by number`);
    return rows.map(plain) as unknown as RunRow[];
  }

  /** Writes other values into an event, its text or its hash. */
  async change(seq: number, values: { body?: string; hash?: string; seq?: number }): Promise<void> {
    const sets = Object.entries(values).map(([column, value]) => `${column} = ${literal(value)}`);
    await this.sql(`update journal_event set ${sets.join(", ")} where ${this.#where} and seq = ${seq}`);
  }

  async remove(seq: number): Promise<void> {
    await this.sql(`delete from journal_event where ${this.#where} and seq = ${seq}`);
  }

  /** Rows of this thread, in any table. */
  where(rest: string): string {
    return `${this.#where} and ${rest}`;
  }

  /** What a journal's events lead to, after each of them. */
  async folded(): Promise<Folded[]> {
    return foldAll(this.key, await this.events());
  }
}

export interface Folded {
  readonly seq: number;
  readonly type: string;
  /** The hash that was recorded. */
  readonly recorded: string;
  readonly state: RunsState;
  readonly rows: readonly RunRow[];
}

export function foldAll(key: ThreadKey, events: readonly { body: string }[]): Folded[] {
  let state = IDLE;
  let rows: ReadonlyMap<string, RunRow> = new Map();
  return events.map((written) => {
    const event = parseEvent(written);
    const { seq, type, state: recorded } = event;
    const given = event as unknown as RunEvent;
    const reduced = reduce(state, given, { thread_id: key.thread_id, seq });
    if ("rejected" in reduced) throw new Error(`event ${seq}: ${reduced.rejected}`);
    rows = project(rows, given, { before: state, after: reduced.state, seq, key });
    state = reduced.state;
    return { seq, type, recorded, state, rows: [...rows.values()] };
  });
}

/** PostgreSQL's driver gives large numbers as text. */
function plain(row: Row): Row {
  const numbers = [
    "number",
    "steps",
    "first_seq",
    "last_seq",
    "created_at",
    "updated_at",
    "started_at",
    "ended_at",
  ];
  const entries = Object.entries(row).map(([column, value]) => [
    column,
    numbers.includes(column) && value !== null ? Number(value) : value,
  ]);
  return Object.fromEntries(entries);
}

export function literal(value: string | number): string {
  return typeof value === "number" ? String(value) : `'${value.replaceAll("'", "''")}'`;
}
