import { expect, test } from "vitest";
import type { ProviderEvent } from "../../providers/index.js";
import { Live } from "../live.js";
import { WorkAnswer } from "./work-answer.js";

const call = (id: string): ProviderEvent => ({ type: "tool_call", id, name: "read", arguments: "{}" });
const result = (id: string, output = "seen"): ProviderEvent => {
  return { type: "tool_result", id, output, failed: false };
};
const says = (text: string): ProviderEvent => ({ type: "text", text });

function working(now = () => 0) {
  const notes: { kind?: string; id?: string; text?: string; tool_call_id?: string; status?: string }[] = [];
  const live = new Live({ workspace_id: "w", thread_id: "t" }, "r", ({ params }) => notes.push(params));
  return { answer: new WorkAnswer(live, new Set(), now), notes };
}

test("[PRG18] an id that comes again is another call's, for its permission and its result too", () => {
  const { answer, notes } = working();
  const stretch = (output: string) => {
    answer.take(call("call_0"));
    const asked = answer.idOf("call_0");
    answer.take({ type: "tool_output", id: "call_0", text: "…" });
    answer.take(result("call_0", output));
    return { asked, stretch: answer.takeStretch() };
  };
  const all = [stretch("one"), stretch("two")];
  expect(all.map(({ asked }) => asked)).toEqual(["call_0", "call_0_2"]);
  expect(all.map(({ stretch: one }) => one?.results[0]?.message)).toMatchObject([
    { tool_call_id: "call_0", content: "one" },
    { tool_call_id: "call_0_2", content: "two" },
  ]);
  expect(notes.flatMap(({ kind, id }) => (kind === "tool_output" ? id : []))).toEqual(["call_0", "call_0_2"]);
  // What is still said of a call that has answered is of no call.
  const before = notes.length;
  answer.take({ type: "tool_output", id: "call_0", text: "late" });
  answer.take(result("call_0"));
  expect([notes.length - before, answer.takeRest()]).toEqual([0, undefined]);
});

test("[RUN122] a program's thoughts end with what it says or does next", () => {
  let now = 0;
  const { answer } = working(() => now);
  const thinks = (id: string): ProviderEvent => ({ type: "thinking", id, text: "hm" });
  answer.take(thinks("1"));
  now = 300;
  answer.take(thinks("1"));
  now = 500;
  answer.take(thinks("2"));
  now = 900;
  answer.take(call("a"));
  now = 5_000;
  answer.take(result("a"));
  expect(answer.takeStretch()?.thoughts_ms).toEqual([500, 400]);
  answer.take(thinks("3"));
  now = 5_250;
  answer.take(says("There."));
  now = 9_000;
  answer.take({ type: "finish", reason: "stop" });
  expect(answer.last.thoughts()).toEqual({ thoughts_ms: [250] });
});

test("[PRG17] a long output is cut", () => {
  const { answer } = working();
  answer.take(call("a"));
  answer.take(result("a", "x".repeat(1024 * 1024 + 7)));
  const content = String(answer.takeStretch()?.results[0]?.message.content);
  expect(content.slice(-30)).toBe(`${"x".repeat(9)}\n[… 7 characters cut]`);
});

test("[PRG19] what is said after tools stands apart", () => {
  const { answer, notes } = working();
  answer.take(says("One."));
  for (const after of ["Two.\n", "Three.\n\n", "Four"]) {
    answer.take(call(after));
    answer.take(result(after));
    const { answer: said } = answer.takeStretch() ?? {};
    expect(said?.content).not.toMatch(/^\n/);
    answer.take(says(after));
  }
  const told = notes.flatMap(({ kind, text }) => (kind === "text" ? text : []));
  expect(told.join("")).toBe("One.\n\nTwo.\n\nThree.\n\nFour");
  expect(answer.last.soFar()?.content).toBe("Four");
});

test("[PRG11] of a stretch that is not over, calls and what came of them are to be kept once, and again when they could not be", () => {
  const { answer } = working();
  const shown = (progress = answer.takeProgress()) => {
    const { text, begun, ended } = progress?.came ?? {};
    return [text, begun?.length, ended?.map(({ call_id, status }) => `${call_id} ${status}`)];
  };
  answer.take(says("I look."));
  answer.take(call("a"));
  answer.take(call("b"));
  const first = answer.takeProgress();
  expect(shown(first)).toEqual(["I look.", 2, undefined]);
  expect(first?.blobs).toHaveLength(2);
  expect(answer.takeProgress()).toBeUndefined();
  answer.take(result("b"));
  first?.giveBack();
  expect(shown()).toEqual(["I look.", 2, ["b ok"]]);
  answer.take(call("c"));
  const third = answer.takeProgress();
  for (const id of ["a", "c"]) answer.take(result(id));
  expect(answer.takeStretch()?.results).toHaveLength(3);
  // What is recorded as a whole by now is not kept in parts any more.
  third?.giveBack();
  expect(answer.takeProgress()).toBeUndefined();
  answer.take(call("d"));
  expect(shown()).toEqual([undefined, 1, undefined]);
});
