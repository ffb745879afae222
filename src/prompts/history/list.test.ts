import { describe, expect, test } from "vitest";
import { encodeMessage } from "../compile/inputs.js";
import { EMPTY_LIST, endOf, tell } from "./list.js";

const said = (content: string) => ({
  encoded: encodeMessage({ role: "user", content }),
  message_id: content,
});

describe("the list of what was told", () => {
  test("[TLD110] it grows from its end alone: in one go or one by one, the same hashes and sums", () => {
    const all = ["a", "bc", "\u{1F9F5}", "d".repeat(1_000)].map(said);
    const whole = tell(EMPTY_LIST, all);
    let end = EMPTY_LIST;
    const single = all.map((one, pos) => {
      const [told] = tell(end, [one]);
      end = endOf({ pos, ...(told as { list_hash: string; chars: number; tokens: number }) });
      return told;
    });
    expect(single).toEqual(whole);
    expect(end).toMatchObject({ length: 4, chars: 1_004 });
    expect(whole.map(({ message_id }) => message_id)).toEqual(all.map(({ message_id }) => message_id));
  });

  test("[TLD110] other words, another order or another beginning is another hash", () => {
    const hashes = [["a", "b"], ["b", "a"], ["ab"], ["a", "b", "b"], ["a"]].map(
      (words) => tell(EMPTY_LIST, words.map(said)).at(-1)?.list_hash,
    );
    expect(new Set(hashes).size).toBe(5);
    expect(endOf(undefined)).toEqual(EMPTY_LIST);
  });
});
