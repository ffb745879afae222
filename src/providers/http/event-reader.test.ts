import fc from "fast-check";
import { expect, test } from "vitest";
import { EventReader, EventTooLarge } from "./event-reader.js";

/** What a reader makes of these pieces. */
function read(pieces: readonly Uint8Array[], limit = 1_000_000): string[] {
  const reader = new EventReader(limit);
  const events = pieces.flatMap((piece) => reader.push(piece));
  const last = reader.end();
  return last === undefined ? events : [...events, last];
}

const bytes = (text: string) => new TextEncoder().encode(text);

test("[PROV28] events are the same wherever the bytes are cut and whatever ends a line", () => {
  const line = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, ""));
  const cases = fc.record({
    events: fc.array(fc.array(line, { minLength: 1, maxLength: 3 }), { maxLength: 5 }),
    end: fc.constantFrom("\n", "\r", "\r\n"),
    bom: fc.constantFrom("", "\uFEFF"),
    cuts: fc.array(fc.nat(400)),
  });
  fc.assert(
    fc.property(cases, ({ events, end, bom, cuts }) => {
      const written = events.map((lines) => lines.map((text) => `data: ${text}${end}`).join("") + end);
      const whole = bytes(`${bom}: comment${end}${end}event: x${end}id: 7${end}${end}${written.join("")}`);
      const places = [...new Set(cuts.map((cut) => cut % (whole.length + 1)))].sort(
        (one, other) => one - other,
      );
      const pieces = [0, ...places].map((from, index) => whole.subarray(from, places[index] ?? whole.length));
      expect(read(pieces)).toEqual(events.map((lines) => lines.join("\n")));
    }),
  );
});

test("[PROV28] a value may stand without its space, and the last event without its end", () => {
  expect(read([bytes("data:a\n\ndata\n\ndatax: b\n\ndata:  c\n\ndata: d")])).toEqual(["a", "", " c", "d"]);
});

test("[PROV29] an event over the limit is refused, in one line or in many", () => {
  expect(() => read([bytes(`data: ${"x".repeat(100)}`)], 50)).toThrow(EventTooLarge);
  expect(() => read([bytes("data: 0123456789\n".repeat(10))], 50)).toThrow(EventTooLarge);
  expect(read([bytes("data: 0123456789\n\n".repeat(10))], 50)).toHaveLength(10);
});
