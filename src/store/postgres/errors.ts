import { storeCondition } from "../errors.js";

/** SQLSTATE classes and codes (and Node's own for a connection that fails) with a cause a person can act on. */
const conditions: [RegExp, Parameters<typeof storeCondition>[0]][] = [
  [/^(08|57P0[123]|3D000|28|53300|ECONN|ENOENT|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_)/, "unavailable"],
  [/^25006/, "read_only"],
  [/^53100/, "full"],
  [/^(55P03|40P01)/, "busy"],
  [/^XX00[12]/, "corrupt"],
];

export function postgresFailure(error: unknown, store: string): unknown {
  const { code, message } = error as { code?: string; message?: string };
  const found = conditions.find(([pattern]) => pattern.test(code ?? ""));
  if (found) return storeCondition(found[1], store, error);
  // The driver gives a connection that ends in mid-query, or can't be had in time, no code.
  if (/connection terminated|timeout exceeded|Connection ended|not queryable/i.test(message ?? "")) {
    return storeCondition("unavailable", store, error);
  }
  return error;
}
