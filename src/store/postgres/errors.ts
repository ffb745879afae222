import { storeCondition, storeError } from "../errors.js";

/** SQLSTATE classes and codes (and Node's own for a connection that fails) with a cause a person can act on. */
const conditions: [RegExp, Parameters<typeof storeCondition>[0]][] = [
  [/^(08|28|3D000|25P03|53[234]|57P0|ECONN|EHOST|ENET|ENOENT|ENOTFOUND|EPIPE|ETIMEDOUT|EAI_)/, "unavailable"],
  [/^(25006|42501)/, "read_only"],
  [/^53100/, "full"],
  [/^(55P03|40P01)/, "busy"],
  [/^XX00[12]/, "corrupt"],
];

export function postgresFailure(error: unknown, store: string): unknown {
  const { code, message } = (error ?? {}) as { code?: string; message?: string };
  const found = conditions.find(([pattern]) => pattern.test(code ?? ""));
  if (found) return storeCondition(found[1], store, error);
  // The driver gives a connection that ends in mid-query, or can't be had in time, no code.
  if (/connection terminated|timeout e(xceeded|xpired)|Connection ended|not queryable/i.test(message ?? "")) {
    return storeCondition("unavailable", store, error);
  }
  return error;
}

/** Whatever keeps a first connection from being made is told: a wrong password looks like no other failure. */
export function unreachable(error: unknown, store: string): unknown {
  const { code, message } = error as { code?: string; message?: string };
  return storeError(
    { kind: "store.unavailable", store },
    `The store ${store} can't be reached: ${message || code}.`,
    error,
  );
}
