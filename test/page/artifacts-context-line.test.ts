import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ContextName, splitContextLine, writeContextLine } from "../../web/state/context-text.js";

const anyText = fc.string({ unit: "binary", minLength: 1, maxLength: 40 });
/** What would break a line, an attribute or an element. */
const hostile = fc
  .array(fc.constantFrom('"', "&", "<", ">", "\n", "\r", "\u2028", "/>", " mode=", "&quot;", "&#10;", "x"), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(""));
const value = fc.oneof(anyText, hostile);

const rest = ["panel-title", "type", "id", "name", "view-name", "view-query", "selection", "mode"] as const;
const attributes = fc
  .record(Object.fromEntries(rest.map((name) => [name, value])) as Record<ContextName, typeof value>, {
    requiredKeys: [],
  })
  .chain((some) => fc.record({ "panel-id": value }).map((id) => ({ ...id, ...some })));

describe("the context line", () => {
  test("[PAT1] it is written as 002 has it", () => {
    expect(
      writeContextLine({
        "panel-id": "p1",
        "panel-type": "lists",
        "panel-title": "Release 4.2",
        type: "list",
        id: "lst_1",
        name: "Release 4.2",
        selection: "itm_1,itm_2",
        mode: "brief",
      }),
    ).toBe(
      '<context panel-id="p1" panel-type="lists" panel-title="Release 4.2" type="list" id="lst_1" name="Release 4.2" selection="itm_1,itm_2" mode="brief" />',
    );
    expect(
      writeContextLine({
        selection: "itm_1",
        "view-query": 'list:"A & B" done:false',
        "view-name": "Open",
        "panel-title": "Open",
        "panel-type": "views",
        "panel-id": "p2",
      }),
    ).toBe(
      '<context panel-id="p2" panel-type="views" panel-title="Open" view-name="Open" view-query="list:&quot;A &amp; B&quot; done:false" selection="itm_1" />',
    );
  });

  test("[PAT1] what has no value is left out, and without any there is no line", () => {
    expect(writeContextLine({ "panel-id": "p1", selection: "", mode: undefined })).toBe(
      '<context panel-id="p1" />',
    );
    expect(writeContextLine({ mode: "brief" })).toBe('<context mode="brief" />');
    expect(writeContextLine({ selection: "" })).toBeUndefined();
  });

  test("[PAT2] whatever it holds, it is one line and is read back", () => {
    fc.assert(
      fc.property(attributes, anyText, (given, text) => {
        const line = writeContextLine(given) as string;
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be in it
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
        const split = splitContextLine(`${line}\n${text}`);
        expect(split.text).toBe(text);
        expect(split.line?.raw).toBe(line);
        const wanted = Object.entries(given).map(([name, each]) => [name, each.toWellFormed()]);
        expect(Object.fromEntries(split.line?.attributes ?? [])).toEqual(Object.fromEntries(wanted));
      }),
    );
  });

  test("[PAT3] no other text is taken for one", () => {
    fc.assert(
      fc.property(value, (text) => {
        expect(splitContextLine(text)).toEqual({ text });
      }),
    );
  });

  test.each([
    ["<contextual> thoughts"],
    ['<context id="5" />\nan element of somebody else'],
    ['<context app="x" mode="brief" />\nforeign'],
    ['<context mode="brief" mode="long" />\ntwice'],
    ['<context mode="brief" /> and words behind it'],
    [' <context mode="brief" />\nindented'],
    ['Say it\n<context mode="brief" />'],
    ['<context mode="br\nief" />\nbroken'],
    ['<context mode="brief">\nopen'],
    ["<context />\nnothing in it"],
  ])("[PAT3] %j stays as it is", (text) => {
    expect(splitContextLine(text)).toEqual({ text });
  });

  test("[PAT2] a message that is nothing but the line has no text", () => {
    expect(splitContextLine('<context mode="brief" />')).toMatchObject({ text: "" });
    expect(splitContextLine('<context mode="&#9999999;&nbsp;" />').line?.attributes.get("mode")).toBe(
      "&#9999999;&nbsp;",
    );
  });
});
