import fc from "fast-check";
import { expect, test } from "vitest";
import { Answer, answerIn, type Piece } from "./answer.js";

function shownOf(pieces: readonly Piece[]): { shown: string; answer: Answer } {
  const answer = new Answer();
  const shown = pieces.map((piece) => answer.add(piece)?.text ?? "").join("");
  return { shown, answer };
}

test("[CLI157] pieces that come again are shown once", () => {
  const { shown, answer } = shownOf([
    { step: 1, offset: 0, text: "one " },
    { step: 1, offset: 4, text: "two " },
    { step: 1, offset: 0, text: "one two three " },
    { step: 1, offset: 4, text: "two " },
    { step: 1, offset: 14, text: "four" },
  ]);
  expect(shown).toBe("one two three four");
  expect(answer.rest("one two three four five")).toBe(" five");
});

test("[CLI157] whatever comes twice, each word is shown once and in order", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "🧵"), minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(fc.tuple(fc.nat(40), fc.nat(40)), { maxLength: 20 }),
      (one, two, cuts) => {
        const answer = new Answer();
        let shown = "";
        const say = (step: number, whole: string, from: number, to: number) => {
          if (from < to) shown += answer.add({ step, offset: from, text: whole.slice(from, to) })?.text ?? "";
        };
        for (const [step, whole] of [
          [1, one],
          [2, two],
        ] as const) {
          for (const [from, length] of cuts)
            say(step, whole, from % whole.length, Math.min(whole.length, from + length));
          say(step, whole, 0, whole.length);
        }
        const message = [{ type: "text", text: one }, { type: "tool_call_ref" }, { type: "text", text: two }];
        expect(shown).toBe(answerIn([{ content: message }]));
        expect(answer.rest(shown)).toBe("");
      },
    ),
    { numRuns: 2_000 },
  );
});

test("[CLI157] what was missed is not made up, and comes from the log", () => {
  const { shown, answer } = shownOf([
    { step: 1, offset: 0, text: "one " },
    { step: 1, offset: 8, text: "three" },
    { step: 3, offset: 5, text: "later" },
  ]);
  expect(shown).toBe("one ");
  expect(answer.rest("one two three")).toBe("two three");
  expect(answer.rest("something else")).toBeUndefined();
  expect(answer.rest("on")).toBe("");
});

test("[CLI157] a step that is asked again begins again", () => {
  const answer = new Answer();
  answer.add({ step: 1, offset: 0, text: "The first try" });
  expect(answer.add({ step: 1, offset: 0, text: "Another" })).toEqual({ text: "Another", anew: true });
  expect(answer.add({ step: 1, offset: 7, text: " one" })).toEqual({ text: " one" });
  expect(answer.text).toBe("Another one");
});

test("[CLI150] what is said in several steps is set apart by an empty line", () => {
  const { shown } = shownOf([
    { step: 1, offset: 0, text: "I look." },
    { step: 3, offset: 0, text: "Found it.\n" },
    { step: 4, offset: 0, text: "Done." },
  ]);
  expect(shown).toBe("I look.\n\nFound it.\n\nDone.");
  const content = [
    { type: "thinking", text: "hm" },
    { type: "text", text: "I look." },
    { type: "tool_call_ref", toolCallId: "a" },
    { type: "tool_call_ref", toolCallId: "b" },
    { type: "text", text: "Found it.\n" },
  ];
  expect(answerIn([{ content }, { content: [{ type: "text", text: "Done." }] }])).toBe(shown);
});

test("[CLI157] a long answer in small pieces takes no long time", () => {
  const answer = new Answer();
  const began = performance.now();
  for (let at = 0; at < 400_000; at += 2) answer.add({ step: 1, offset: at, text: "ab" });
  expect(answer.text).toHaveLength(400_000);
  expect(performance.now() - began).toBeLessThan(2_000);
});
