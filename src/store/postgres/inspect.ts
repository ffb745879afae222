import pg from "pg";
import type { Inspection } from "../inspection.js";
import { unreachable } from "./errors.js";
import { withoutPassword } from "./open.js";

const CONNECT_TIMEOUT_MS = 5_000;

/** Looks without taking the writer's lock: a gateway may be at work there. */
export async function inspectPostgres(url: string): Promise<Inspection> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      application_name: "heddle",
    });
    client.on("error", () => {});
    await client.connect();
    const { rows } = await client.query(
      "select current_setting('server_version') as version, to_regclass('schema_version') is not null as used",
    );
    const [{ version, used }] = rows as [{ version: string; used: boolean }];
    const found = used ? await client.query("select max(version) as schema from schema_version") : undefined;
    return { engine: `PostgreSQL ${version}`, schema: found?.rows[0]?.schema ?? 0, problems: [] };
  } catch (error) {
    throw unreachable(error, withoutPassword(url));
  } finally {
    await client?.end().catch(() => {});
  }
}
