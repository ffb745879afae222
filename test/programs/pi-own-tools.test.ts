import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answer, piStage, type Step, user } from "../support/programs/fake-pi-stage.js";

const finish = { type: "finish", reason: "stop" };
const content = (text: string) => ({ content: [{ type: "text", text }] });

/** A call of pi's own tool from its beginning to its end. */
const ownCall = (id: string, name: string, input: Step, isError = false): Step[] => [
  { type: "tool_execution_start", toolCallId: id, toolName: name, args: input },
  { may: { id, name, input } },
  { type: "tool_execution_end", toolCallId: id, toolName: name, result: content("ok"), isError },
];

test("[PIA3] what it edits and writes is told as differences", async () => {
  const at = await piStage({
    turns: [
      {
        steps: [
          ...ownCall("new", "write", { path: "deep/new.txt", content: "n\n" }),
          ...ownCall("over", "write", { path: "@a.txt", content: "x\n" }),
          ...ownCall("edit", "edit", {
            path: "a.txt",
            edits: [
              { oldText: "one", newText: "1" },
              { oldText: "two", newText: "2" },
            ],
          }),
          ...ownCall("loose", "edit", { path: "a.txt", oldText: "ONE ", newText: "1" }),
          ...ownCall("failed", "write", { path: "a.txt", content: "x" }, true),
          ...ownCall("binary", "write", { path: "~/binary", content: "x" }),
          ...answer("Done."),
        ],
      },
    ],
  });
  const before = "one\ntwo\n";
  await writeFile(join(at.directory, "a.txt"), before);
  await writeFile(join(at.home, "binary"), "\0\0");
  const results = (await at.turn([user("Edit")])).filter((event) => event.type === "tool_result");
  expect(results.map(({ id, diffs }) => [id, diffs])).toEqual([
    ["new", [{ path: "deep/new.txt", oldText: "", newText: "n\n" }]],
    ["over", [{ path: "a.txt", oldText: before, newText: "x\n" }]],
    ["edit", [{ path: "a.txt", oldText: before, newText: "1\n2\n" }]],
    ["loose", [{ path: "a.txt", oldText: "ONE ", newText: "1" }]],
    ["failed", undefined],
    ["binary", undefined],
  ]);
});

test.each([
  ["allow", "allow"],
  ["always", "allow"],
  ["deny", "deny"],
] as const)("[PIA11] asked for a call, %s means %s", async (given, told) => {
  const at = await piStage({
    turns: [{ steps: [...ownCall("c1", "bash", { command: "rm x" }, told === "deny"), ...answer("A")] }],
  });
  at.answer = async () => given;
  await at.turn([user("Go")]);
  expect(at.asked).toEqual([{ id: "c1", name: "bash", arguments: '{"command":"rm x"}' }]);
  expect(at.logged().flatMap(({ may }) => may ?? [])).toEqual([told]);
});

test("[PIA11] a question that comes to nothing is a no", async () => {
  const at = await piStage({ turns: [{ steps: [...ownCall("c1", "bash", {}), ...answer("A")] }] });
  at.answer = () => Promise.reject(new Error("nobody is there"));
  expect((await at.turn([user("Go")])).at(-1)).toEqual(finish);
  expect(at.logged().flatMap(({ may }) => may ?? [])).toEqual(["deny"]);
});

test("[PIA11] reading is asked for only outside the directory", async () => {
  const paths = ["a.txt", "./sub/../a.txt", ".", "../secret", "/etc/hosts", "~/secret", "link", "not-there"];
  const reads = paths.flatMap((path, at) => ownCall(`c${at}`, "read", { path }));
  const at = await piStage({
    turns: [{ steps: [...reads, ...ownCall("ls", "ls", {}), ...answer("A")] }],
  });
  await mkdir(join(at.directory, "sub"));
  await writeFile(join(at.directory, "a.txt"), "a");
  await writeFile(join(at.home, "secret"), "s");
  await symlink(join(at.home, "secret"), join(at.directory, "link"));
  await at.turn([user("Read")]);
  const asked = at.asked.map((one) => JSON.parse(one.arguments).path);
  expect(asked).toEqual(["../secret", "/etc/hosts", "~/secret", "link", "not-there"]);
});
