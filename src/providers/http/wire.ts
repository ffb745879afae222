import type { ServerWords } from "../failure.js";

/** What one API's events mean for the connection, one reader for each attempt. What they say is read by the API's own code. */
export interface Wire {
  event(event: JsonObject): Reading;
  /** What `[DONE]` adds to the answer before it ends. */
  done?(): JsonObject | undefined;
}

export type JsonObject = Record<string, unknown>;

export interface Reading {
  /** An event of a kind we don't know is left out: APIs gain new ones all the time. */
  readonly skip?: true;
  /** Given instead of the event. */
  readonly instead?: JsonObject;
  /** The answer is complete, though more may be said about it. */
  readonly settled?: true;
  /** Nothing follows that matters. */
  readonly last?: true;
  readonly error?: ServerWords;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads `{message, type, code, status}` or whatever part of it a server has. */
export function serverWords(error: unknown, status?: number): ServerWords {
  if (!isObject(error)) return { status, hint: "", message: typeof error === "string" ? error : "" };
  const { message, type, code, status: named } = error;
  const numeric = [code, named].map(Number).find((number) => number >= 400 && number <= 599);
  const details = Array.isArray(error.details) ? error.details.map((detail) => detail?.reason) : [];
  return {
    status: status ?? numeric,
    hint: [type, code, named, ...details].filter((word) => typeof word === "string").join(" "),
    message: typeof message === "string" ? message : "",
  };
}

/** What a body says that came with an error's status, in any of the usual forms. */
export function bodyWords(text: string, status: number): ServerWords {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return { status, hint: "", message: /^\s*</.test(text) ? "" : text };
  }
  if (Array.isArray(body)) body = body[0];
  if (!isObject(body)) return { status, hint: "", message: text };
  const words = serverWords(body.error ?? body, status);
  return words.message === "" && typeof body.detail === "string" ? { ...words, message: body.detail } : words;
}
