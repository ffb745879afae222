import { expect, test } from "vitest";
import { z } from "zod";
import { assertComplete, readWords } from "../../src/cli/commands/tool/read-words.js";
import { splitWords } from "../../src/cli/commands/tool/split-words.js";
import { commandOptions } from "../../src/tools/index.js";
import { schemaOf } from "./support.js";

const options = commandOptions(
  schemaOf(
    z.object({
      text: z.string(),
      dueDate: z.string().optional(),
      list_id: z.string().optional(),
      count: z.int().optional(),
      ratio: z.number().optional(),
      pinned: z.boolean().optional(),
      color: z.enum(["red", "blue"]).optional(),
      tags: z.array(z.string()).optional(),
      numbers: z.array(z.int()).optional(),
      filter: z.object({}).optional(),
      things: z.array(z.looseObject({})).optional(),
      json: z.string().optional(),
    }),
  ),
);

const read = (...words: string[]) => readWords("notes_add", words, options);
const refused = (...words: string[]) => {
  try {
    read(...words);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};

test("[TCM12] values come as their kinds say", () => {
  expect(
    read("--text", "a b", "--count", "-3", "--ratio=0.5", "--color", "red", "--filter", '{"a":1}'),
  ).toEqual({
    text: "a b",
    count: -3,
    ratio: 0.5,
    color: "red",
    filter: { a: 1 },
  });
  expect(read("--text", "123")).toEqual({ text: "123" });
  expect(read("--text=")).toEqual({ text: "" });
  expect(read("--text", "-")).toEqual({ text: "-" });
  expect(read("--text=--a=b")).toEqual({ text: "--a=b" });
});

test("[TCM12] an option is known by its words, however they are joined", () => {
  for (const name of ["--due-date", "--dueDate", "--due_date", "--DUE-DATE", "--duedate"]) {
    expect(read(name, "x"), name).toEqual({ dueDate: "x" });
  }
  for (const name of ["--list-id", "--list_id", "--listId"])
    expect(read(name, "x")).toEqual({ list_id: "x" });
});

test("[TCM12] a flag stands alone, or says true or false", () => {
  expect(read("--pinned")).toEqual({ pinned: true });
  expect(read("--pinned", "--text", "x")).toEqual({ pinned: true, text: "x" });
  expect(read("--pinned", "false")).toEqual({ pinned: false });
  expect(read("--pinned=false")).toEqual({ pinned: false });
  expect(read("--no-pinned")).toEqual({ pinned: false });
  expect(refused("--pinned=maybe")).toContain("true or false");
  expect(refused("--no-text")).toContain("no option --no-text");
});

test("[TCM12] a list is given by repeating its option; one of JSON may come whole", () => {
  expect(read("--tags", "a", "--tags", "b,c")).toEqual({ tags: ["a", "b,c"] });
  expect(read("--tags", "[1]")).toEqual({ tags: ["[1]"] });
  expect(read("--numbers", "1", "--numbers", "2")).toEqual({ numbers: [1, 2] });
  expect(read("--things", '{"a":1}', "--things", '[{"b":2},{}]')).toEqual({
    things: [{ a: 1 }, { b: 2 }, {}],
  });
});

test("[TCM13] what can't be meant is refused, with what to write instead", () => {
  expect(refused("--txt", "x")).toBe("notes_add has no option --txt. Did you mean --text?");
  expect(refused("--__proto__", "x")).toContain("no option");
  expect(refused("hello")).toContain("takes options only, but got 'hello'");
  expect(refused("--")).toContain("takes options only");
  expect(refused("-t", "x")).toContain("takes options only");
  expect(refused("--text")).toContain("--text needs a value");
  expect(refused("--text", "--pinned")).toContain("--text=…");
  expect(refused("--text", "a", "--text", "b")).toContain("more than once");
  expect(refused("--count", "1.5")).toContain("whole number, not '1.5'");
  expect(refused("--count", "")).toContain("whole number");
  expect(refused("--ratio", "much")).toContain("a number, not 'much'");
  expect(refused("--color", "green")).toBe("--color is one of red, blue, not 'green'");
  expect(refused("--filter", "{a:1}")).toContain("--filter is given as JSON");
  expect(refused("--url", "x")).toContain("comes before the tool's name");
  expect(readWords.bind(null, "t", ["--x", "1"], [])).toThrow("It takes none");
});

test("[TCM13] what has to be there and is not is named as it is written", () => {
  const options = commandOptions({
    type: "object",
    properties: { a_b: { type: "string" }, json: { type: "string" }, more: { type: "string" } },
    required: ["a_b", "json"],
  });
  const complete = (values: Record<string, unknown>) => () => assertComplete("t", values, options);
  expect(complete({ more: "x" })).toThrow('t needs --a-b, "json" within --arguments');
  expect(complete({ a_b: "", json: null })).not.toThrow();
});

test("[TCM11] what is the command's own stays so behind a tool's name", () => {
  const words = ["--text", "--json", "--thread", "thr_1", "--x", "-h", "--workspace=w", "--arguments", "{}"];
  expect(splitWords(words, { data: "/d" })).toEqual({
    options: { data: "/d", json: true, thread: "thr_1", workspace: "w", arguments: "{}" },
    help: false,
    rest: ["--text", "--x", "-h"],
  });
  expect(splitWords(["--text", "x", "--help"], {}).help).toBe(true);
  expect(() => splitWords(["--thread"], {})).toThrow("argument missing");
  expect(read("--text=x", "--tags=--json")).toEqual({ text: "x", tags: ["--json"] });
});
