import { sqliteDriver } from "../../base/index.js";

/** A database of another program, opened so that nothing in it can change. */
export interface ForeignDatabase {
  all(sql: string, ...parameters: readonly (string | number)[]): Readonly<Record<string, unknown>>[];
  close(): void;
}

/** Everything that is read comes from one moment, whatever its program writes meanwhile. */
export function openForeign(path: string): ForeignDatabase {
  const driver = sqliteDriver();
  const handle = driver.openReadOnly(path);
  const bind = (values: readonly unknown[]) => (driver.name === "libsql" ? [values] : [...values]);
  try {
    handle.exec("pragma busy_timeout = 2000");
    handle.exec("begin");
  } catch (error) {
    handle.close();
    throw error;
  }
  return {
    all: (sql, ...parameters) => handle.prepare(sql).all(...bind(parameters)) as Record<string, unknown>[],
    close: () => handle.close(),
  };
}
