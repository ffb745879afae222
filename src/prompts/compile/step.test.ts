import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isKind } from "../../base/index.js";
import { EMPTY_LIST, tell } from "../history/list.js";
import { encodeMessage } from "./inputs.js";
import type { Prefix } from "./prefix.js";
import { type CompiledStep, compileStep, type HistoryView } from "./step.js";

const CONTEXT = 1_000;
const RESERVED = 100;
const FREE = CONTEXT - RESERVED;

const prefix = (tokens = 50, more: Partial<Prefix> = {}): Prefix => ({
  compiler_version: "1",
  agent_id: "a",
  provider: "p",
  model: "m",
  params: {},
  refs: ["sha256:x"],
  sections: [],
  hook_sources: [],
  tools: [],
  chars: 0,
  tokens,
  context: CONTEXT,
  reserved: RESERVED,
  stable_prefix_hash: "h",
  ...more,
});

/** A message of about so many tokens. */
const weighing = (role: "user" | "assistant", tokens: number) => ({
  encoded: encodeMessage({ role, content: "abcdefg".repeat(Math.max(0, Math.floor((tokens - 4) / 2))) }),
  message_id: `${role}-${tokens}`,
});

function viewOf(messages: readonly ReturnType<typeof weighing>[], turn: number, start = 0): HistoryView {
  const told = tell(EMPTY_LIST, messages);
  return {
    start,
    to: told.length,
    list_hash: told.at(-1)?.list_hash ?? "",
    turn,
    at: (position) => {
      const entry = told[position];
      if (position < start - 1 || !entry) throw new Error(`nobody may look at ${position}`);
      return entry;
    },
  };
}

const talk = (turns: number, tokens: number) =>
  Array.from({ length: turns }, () => [weighing("user", tokens), weighing("assistant", tokens)]).flat();

describe("fitting the window", () => {
  test("[TLD130] what fits is sent whole, without a marker", () => {
    const history = [...talk(3, 50), weighing("user", 50)];
    expect(compileStep(prefix(), viewOf(history, 6))).toMatchObject({
      from: 0,
      to: 7,
      tokens_estimate: 50 + 7 * 50,
    });
    expect(compileStep(prefix(), viewOf(history, 6)).marker).toBeUndefined();
    expect(compileStep(prefix(), viewOf([], 0))).toMatchObject({ from: 0, to: 0, list_hash: "", tokens: 0 });
  });

  test("[TLD131] past the window the oldest whole turns leave, down to 70 % of what is free", () => {
    const history = [...talk(9, 50), weighing("user", 50)];
    const { from, marker, tokens_estimate } = compileStep(prefix(), viewOf(history, 18));
    expect(from % 2).toBe(0);
    expect(tokens_estimate).toBeLessThanOrEqual(0.7 * FREE);
    expect(tokens_estimate + 100).toBeGreaterThan(0.7 * FREE - 40);
    expect(marker?.message).toEqual({
      role: "system",
      content: `[${from} earlier messages of this conversation left out to fit the model's context window]`,
    });
  });

  test("[TLD132] where it was cut it stays cut, until it is full again", () => {
    const history = [...talk(9, 50), weighing("user", 50)];
    const { from } = compileStep(prefix(), viewOf(history, 18));
    const longer = [...history, weighing("assistant", 50), weighing("user", 50)];
    expect(compileStep(prefix(), viewOf(longer, 20, from)).from).toBe(from);
    const full = [...longer, ...talk(3, 50), weighing("user", 50)];
    expect(compileStep(prefix(), viewOf(full, full.length - 1, from)).from).toBeGreaterThan(from);
  });

  test("[TLD133] what can't fit is prompt.too_large with both figures, and one message too much says so", () => {
    const refused = (view: HistoryView, tokens = 50) => {
      try {
        return compileStep(prefix(tokens), view);
      } catch (error) {
        if (isKind(error, "prompt.too_large")) return error.data;
        throw error;
      }
    };
    const large = weighing("user", 1_000);
    expect(refused(viewOf([large], 0))).toMatchObject({ limit: FREE, tokens: 1_050 });
    expect(refused(viewOf([...talk(2, 50), large], 4))).toMatchObject({ limit: FREE });
    expect(refused(viewOf([weighing("user", 50)], 0), FREE)).toMatchObject({ limit: FREE });
  });

  test("[TLD134] a single message that left is told in the singular", () => {
    const history = [weighing("user", 800), weighing("user", 100)];
    const { marker } = compileStep(prefix(), viewOf(history, 1));
    expect(marker?.message.content).toMatch(/^\[1 earlier message of /);
  });

  test("[TLD135] whatever the history: it fits, begins with a turn, keeps the new one, and nobody looks behind the cut", () => {
    const message = fc.record({
      role: fc.constantFrom("user" as const, "assistant" as const),
      tokens: fc.integer({ min: 4, max: 300 }),
    });
    const given = fc.record({
      messages: fc.array(message, { maxLength: 40 }),
      prefixTokens: fc.integer({ min: 0, max: 600 }),
      cut: fc.nat(),
      asked: fc.integer({ min: 4, max: 200 }),
      after: fc.array(message, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(given, ({ messages, prefixTokens, cut, asked, after }) => {
        const turn = messages.length;
        const start = messages.length === 0 ? 0 : cut % (messages.length + 1);
        const all = [
          ...messages,
          { role: "user" as const, tokens: asked },
          ...after.map((one) => ({ ...one, role: "assistant" as const })),
        ];
        const view = viewOf(
          all.map(({ role, tokens }) => weighing(role, tokens)),
          turn,
          start,
        );
        const step = stepOrTooLarge(prefixTokens, view);
        if (!step) return;
        expect(compileStep(prefix(prefixTokens), view)).toEqual(step);
        expect(step.from).toBeGreaterThanOrEqual(start);
        expect(step.from).toBeLessThanOrEqual(turn);
        expect(step.tokens_estimate).toBeLessThanOrEqual(FREE);
        expect(step.marker === undefined).toBe(step.from === 0);
        if (step.from !== start && step.from !== turn) {
          expect(view.at(step.from).role).toBe("user");
          expect(step.tokens_estimate).toBeLessThanOrEqual(0.7 * FREE);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test("[TLD136] the request's hash is over everything that is sent: model, parameters, tools, messages, the cut", () => {
    const history = [...talk(2, 50), weighing("user", 50)];
    const of = (more: Partial<Prefix>, view = viewOf(history, 4)) =>
      compileStep(prefix(50, more), view).request_hash;
    const hashes = [
      of({}),
      of({ model: "n" }),
      of({ provider: "q" }),
      of({ params: { max_tokens: 9 } }),
      of({ tools_ref: "sha256:t" }),
      of({ refs: ["sha256:y"] }),
      of({ refs: ["sha256:x", "sha256:x"] }),
      of({}, viewOf(history, 4, 2)),
      of({}, viewOf(history.slice(0, 4), 4)),
      of({}, viewOf([...history.slice(0, 4), weighing("user", 60)], 4)),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(of({ agent_id: "another", sections: [] })).toBe(hashes[0]);
  });
});

/** Undefined where even the new turn alone is too much. */
function stepOrTooLarge(tokens: number, view: HistoryView): CompiledStep | undefined {
  try {
    return compileStep(prefix(tokens), view);
  } catch (error) {
    if (!isKind(error, "prompt.too_large")) throw error;
    const alone = view.at(view.to - 1).tokens - (view.turn > 0 ? view.at(view.turn - 1).tokens : 0);
    expect(tokens + alone + (view.turn > 0 ? 40 : 0)).toBeGreaterThan(FREE);
    return undefined;
  }
}
