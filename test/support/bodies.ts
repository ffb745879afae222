import type { Protocol } from "./model-server/protocols.js";

/** Where each protocol has the conversation. */
const places: Readonly<Record<Protocol, string>> = {
  chat: "messages",
  responses: "input",
  messages: "messages",
  gemini: "contents",
};

/** A request's body, taken apart: the conversation item by item, each in the bytes it was sent in, and the rest of it. */
export interface TakenApart {
  readonly items: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever was sent
  readonly rest: any;
  /** The bytes up to the end of the last item. */
  readonly head: string;
}

/** Anthropic's marks of what to cache move with the end of the conversation; they are no part of what is told. */
const CACHE_MARK = ',"cache_control":{"type":"ephemeral"}';

export function takeApart(protocol: Protocol, sent: string): TakenApart {
  const body = sent.replaceAll(CACHE_MARK, "");
  const { [places[protocol]]: items, ...rest } = JSON.parse(body);
  const text = JSON.stringify(items);
  const at = body.indexOf(text);
  // The offsets below are those of the bytes that were sent: nothing may have been written another way.
  if (at === -1 || body.indexOf(text, at + 1) !== -1) throw new Error("the conversation is not where it was");
  return {
    items: items.map((item: unknown) => JSON.stringify(item)),
    rest,
    head: body.slice(0, at + text.length - 1),
  };
}
