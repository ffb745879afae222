import { spawn } from "node:child_process";
import pg from "pg";

/** A PostgreSQL that is thrown away, with a database for each world. */
export interface Databases {
  fresh(): Promise<string>;
  stop(): void;
}

export async function startPostgres(bin: string): Promise<Databases> {
  const server = spawn(process.execPath, ["scripts/postgres.mjs", bin], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const url = await new Promise<string>((resolve, reject) => {
    server.stdout.once("data", (data) => resolve(String(data).trim()));
    server.once("exit", (code) => reject(new Error(`PostgreSQL did not start (${code})`)));
  });
  let made = 0;
  return {
    async fresh() {
      const name = `crash_${++made}`;
      const client = new pg.Client(url);
      await client.connect();
      await client.query(`create database ${name}`);
      await client.end();
      const own = new URL(url);
      own.pathname = `/${name}`;
      return own.href;
    },
    stop: () => server.stdin.end(),
  };
}
