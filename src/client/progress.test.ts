import { expect, test } from "vitest";
import { SequenceProgress } from "./progress.js";

test("[CONN12] sequence numbers of different workspaces do not mix", () => {
  const progress = new SequenceProgress();
  expect(["a", "b", "a", "b", "a"].map((id, i) => progress.hear(id, Math.floor(i / 2) + 1))).toEqual(
    Array(5).fill("next"),
  );
  expect([progress.resumePoint("a"), progress.resumePoint("b"), progress.resumePoint("c")]).toEqual([
    3,
    2,
    undefined,
  ]);
  progress.forget("a");
  expect(progress.workspaces()).toEqual(["b"]);
});

test("[CONN12] a state that was read does not hide what is still on its way", () => {
  const progress = new SequenceProgress();
  progress.read("a", 10);
  expect(progress.hear("a", 10)).toBe("next");
  expect(progress.hear("a", 11)).toBe("next");
  progress.read("a", 20);
  expect(progress.resumePoint("a")).toBe(11);
  expect(progress.hear("a", 12)).toBe("next");
});
