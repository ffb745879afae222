import { describe, expect, test } from "vitest";
import { countChanges, differenceOf } from "../../web/features/agents-doc/diff-rows.js";
import * as doc from "../../web/features/agents-doc/doc-state.js";

const v = (version: number, content: string, id = "agd_1"): doc.Stored => ({ id, version, content });
const LOST: doc.DocProblem = { message: "the gateway does not answer.", because: "link" };

describe("the states of a document being edited", () => {
  const clean = doc.begin(v(4, "a\n"));
  const dirty = doc.edited(clean, "a\nb\n");

  test("[PED53] clean, dirty, saving, saved and clean again", () => {
    expect(doc.phaseOf(clean)).toBe("clean");
    expect(doc.phaseOf(dirty)).toBe("dirty");
    const sent = doc.sending(dirty);
    expect([doc.phaseOf(sent), doc.canSave(sent)]).toEqual(["dirty", false]);
    expect(doc.phaseOf(doc.slow(sent))).toBe("saving");
    const saved = doc.answered(doc.slow(sent), v(5, "a\nb\n"));
    expect(doc.phaseOf(saved)).toBe("saved");
    expect(doc.phaseOf(doc.settled(saved))).toBe("clean");
    expect(doc.phaseOf(doc.edited(saved, "c"))).toBe("dirty");
  });

  test("[PED53] what is typed during a save stays, and is unsaved", () => {
    const during = doc.edited(doc.sending(dirty), "a\nb\nc\n");
    const after = doc.answered(during, v(5, "a\nb\n"));
    expect(after).toMatchObject({ mine: "a\nb\nc\n", base: { version: 5 } });
    expect([doc.phaseOf(after), doc.canSave(after)]).toEqual(["dirty", true]);
  });

  test("[PED53] a change elsewhere: taken over when clean, a conflict when dirty, held back while a save is on its way", () => {
    expect(doc.told(clean, v(5, "z\n"))).toMatchObject({ mine: "z\n", base: { version: 5 } });
    const conflict = doc.told(dirty, v(5, "z\n"));
    expect([doc.phaseOf(conflict), doc.canSave(conflict)]).toEqual(["conflict", false]);
    expect(conflict).toMatchObject({ mine: "a\nb\n", base: { version: 4 }, theirs: { version: 5 } });
    const held = doc.told(doc.sending(dirty), v(5, "z\n"));
    expect(held.theirs).toBeUndefined();
    expect(doc.phaseOf(doc.unanswered(held))).toBe("conflict");
  });

  test("[PED53] older news, and news of what is here already, change nothing", () => {
    expect(doc.told(dirty, v(4, "a\n"))).toBe(dirty);
    expect(doc.told(dirty, v(3, "old"))).toBe(dirty);
    expect(doc.phaseOf(doc.told(dirty, v(5, "a\nb\n")))).toBe("clean");
    expect(doc.told(dirty, v(6, "a\n"))).toMatchObject({ mine: "a\nb\n", base: { version: 6 } });
    const conflict = doc.told(dirty, v(5, "z\n"));
    expect(doc.told(conflict, v(5, "z\n"))).toBe(conflict);
    expect(doc.told(conflict, v(6, "y\n"))).toMatchObject({ theirs: { version: 6 }, base: { version: 4 } });
  });

  test("[PED53] a save whose answer was lost is recognised when it turns up", () => {
    const during = doc.edited(doc.sending(dirty), "a\nb\nc\n");
    const lost = doc.unanswered(during, LOST);
    expect(doc.phaseOf(lost)).toBe("error");
    expect(doc.told(lost, v(5, "a\nb\n"))).toMatchObject({ mine: "a\nb\nc\n", base: { version: 5 } });
    expect(doc.phaseOf(doc.told(lost, v(5, "a\nb\n")))).toBe("dirty");
    expect(doc.phaseOf(doc.told(lost, v(5, "z\n")))).toBe("conflict");
  });

  test("[PED53] a refusal is an error that typing leaves and a save ends", () => {
    const problem: doc.DocProblem = { message: "the disk is full.", because: "refused" };
    const error = doc.refused(doc.sending(dirty), problem);
    expect([doc.phaseOf(error), doc.canSave(error)]).toEqual(["error", true]);
    expect(doc.phaseOf(doc.edited(error, "more"))).toBe("error");
    expect(doc.phaseOf(doc.answered(doc.sending(error), v(5, "a\nb\n")))).toBe("saved");
  });

  test("[PED53] a text that can't be saved is an error until it can", () => {
    const long = doc.edited(clean, "é".repeat(65_537));
    expect(long.problem?.message).toBe("1 character over the limit of 65,536. Shorten it.");
    expect([doc.phaseOf(long), doc.canSave(long)]).toEqual(["error", false]);
    expect(doc.phaseOf(doc.edited(long, "é".repeat(65_536)))).toBe("dirty");
    expect(doc.edited(clean, "😀".repeat(65_536)).problem).toBeUndefined();
    expect(doc.edited(clean, "a\0b").problem?.code).toBe("invalid_text");
  });

  test("[PED53] deleted elsewhere: empty when clean, a conflict when dirty; a decision builds on what is there", () => {
    expect(doc.told(clean, doc.NOTHING)).toMatchObject({ mine: "", base: { version: 0 } });
    const conflict = doc.told(dirty, doc.NOTHING);
    expect(doc.phaseOf(conflict)).toBe("conflict");
    expect(doc.decided(conflict, "a\nb\n")).toMatchObject({ base: { version: 0 }, mine: "a\nb\n" });
    expect(doc.phaseOf(doc.decided(conflict, ""))).toBe("clean");
  });

  test("[PED53] text that was left behind is unsaved, in conflict, or saved already", () => {
    const kept = { base: v(4, "a\n"), mine: "mine\n" };
    expect(doc.phaseOf(doc.begin(v(4, "a\n"), kept))).toBe("dirty");
    expect(doc.phaseOf(doc.begin(v(5, "z\n"), kept))).toBe("conflict");
    expect(doc.phaseOf(doc.begin(v(5, "mine\n"), kept))).toBe("clean");
  });

  test("[PED25] a gateway that went back to an earlier version is a conflict to decide, not one to repeat", () => {
    const refused = doc.unanswered(doc.sending(dirty));
    expect(doc.told(refused, v(2, "old\n"))).toBe(refused);
    const conflict = doc.contradicted(refused, v(2, "old\n"));
    expect([doc.phaseOf(conflict), doc.canSave(conflict)]).toEqual(["conflict", false]);
    expect(conflict).toMatchObject({ mine: "a\nb\n", theirs: { version: 2 } });
    const later = doc.told(conflict, v(3, "older\n"));
    expect(later).toMatchObject({ theirs: { version: 3, content: "older\n" } });
    expect(doc.told(later, v(2, "old\n"))).toBe(later);
    expect(doc.decided(later, "mine\n")).toMatchObject({ base: { version: 3 }, mine: "mine\n" });
  });

  test("[PED25] a lower version of the same text is built on, and what is known already changes nothing", () => {
    const refused = doc.unanswered(doc.sending(dirty));
    const same = doc.contradicted(refused, v(2, "a\n"));
    expect(same).toMatchObject({ mine: "a\nb\n", base: { version: 2 } });
    expect([doc.phaseOf(same), doc.canSave(same)]).toEqual(["dirty", true]);
    expect(doc.contradicted(clean, v(2, "old\n"))).toMatchObject({ mine: "old\n", base: { version: 2 } });
    const conflict = doc.told(dirty, v(5, "z\n"));
    expect(doc.contradicted(conflict, v(5, "z\n"))).toBe(conflict);
    expect(doc.contradicted(dirty, v(4, "a\n"))).toBe(dirty);
  });

  test("[PED53] choices stay with a conflict and go with it", () => {
    const conflict = doc.chose(doc.told(dirty, v(5, "z\n")), "key", "mine");
    expect(doc.told(conflict, v(6, "y\n")).choices).toEqual({ key: "mine" });
    expect(doc.chose(conflict, "key", undefined).choices).toEqual({});
    expect(doc.decided(conflict, "x").choices).toBeUndefined();
  });
});

describe("the difference of two versions", () => {
  test("[PED44] lines have their number and sign, changed words are marked, the rest is left out", () => {
    const before = ["1", "2", "3", "4", "the old word", "6", "7", "8", "9", ""].join("\n");
    const { rows, added, gone } = differenceOf(before, before.replace("old", "new"));
    expect({ added, gone }).toEqual({ added: 1, gone: 1 });
    expect(rows.map(({ kind, number }) => `${kind} ${number}`)).toEqual([
      "skipped 2",
      "same 3",
      "same 4",
      "gone 5",
      "added 5",
      "same 6",
      "same 7",
      "skipped 2",
    ]);
    expect(rows[4]?.parts.filter(({ marked }) => marked)).toEqual([{ text: "new", marked: true }]);
    expect(differenceOf(before, before.replace("old", "new"), true).rows).toHaveLength(10);
  });

  test("[PED44] an empty text has no lines", () => {
    expect(countChanges("", "a\nb")).toEqual({ added: 2, gone: 0 });
    expect(countChanges("a", "")).toEqual({ added: 0, gone: 1 });
    expect(countChanges("a\n", "a\nb\n")).toEqual({ added: 1, gone: 0 });
    expect(countChanges("a", "a\n")).toEqual({ added: 1, gone: 0 });
  });
});
