import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Plugin, tidySkills, writeSkills } from "../../src/tools/index.js";
import { temporaryDirectory } from "../support/stores.js";
import { listed, notes } from "./support.js";

const program = [process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--"];

function write(directory: string, plugin: Plugin = notes, more: { workspace_id?: string } = {}) {
  const { plugins, tools } = listed(plugin);
  return writeSkills({ directory, program, ...more }, plugins, tools);
}

test("[SKL3] each plugin has a SKILL.md of its own, and they share a command that runs", async () => {
  const directory = join(temporaryDirectory(), "skills it's");
  const cli_path = join(directory, "bin", "heddle");
  expect(await write(directory)).toEqual([
    {
      id: "notes",
      description: "Short texts that stay.",
      skill_path: join(directory, "notes", "SKILL.md"),
      cli_path,
    },
  ]);
  expect(readFileSync(join(directory, "notes", "SKILL.md"), "utf8")).toContain("## notes_add");
  const words = ["tool", "a b", "$HOME", "'", '"', "", "*"];
  expect(JSON.parse(execFileSync(cli_path, words, { encoding: "utf8" }))).toEqual(words);
});

test("[SKL3] nothing is written where there is no plugin", async () => {
  const directory = join(temporaryDirectory(), "skills");
  expect(await writeSkills({ directory, program }, [], [])).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});

test("[SKL4] a file that says the same is left alone; one that was changed or removed is written again, whole", async () => {
  const directory = temporaryDirectory();
  const [skill] = await write(directory);
  const path = skill?.skill_path as string;
  const text = readFileSync(path, "utf8");
  utimesSync(path, 1, 1);
  await write(directory);
  expect(statSync(path).mtimeMs).toBe(1_000);
  writeFileSync(path, "something else");
  await Promise.all([write(directory), write(directory), write(directory)]);
  expect(readFileSync(path, "utf8")).toBe(text);
  await write(directory, { ...notes, guide: "Another guide." });
  expect(readFileSync(path, "utf8")).toContain("Another guide.");
  expect(readdirSync(join(directory, "notes"))).toEqual(["SKILL.md"]);
});

test("[SKL4] what a gateway that was killed was writing is gone with the next start", async () => {
  const directory = temporaryDirectory();
  await write(directory);
  const drafts = join(directory, ".drafts");
  expect(readdirSync(drafts)).toEqual([]);
  writeFileSync(join(drafts, "half.tmp"), "#!/bin/s");
  tidySkills({ directory });
  expect(readdirSync(directory).sort()).toEqual(["bin", "notes"]);
  await write(directory, { ...notes, guide: "Another guide." });
  expect(readFileSync(join(directory, "notes", "SKILL.md"), "utf8")).toContain("Another guide.");
});

test("[SKL4] what is the same plugin with the same tools is not written out or read again, unless somebody touched the file", async () => {
  const directory = temporaryDirectory();
  const { plugins, tools } = listed(notes);
  const [plugin] = plugins as [(typeof plugins)[number]];
  let read = 0;
  // The parts of a plugin that only its text is made of.
  const counted = {
    ...plugin,
    get guide() {
      read += 1;
      return "Counted.";
    },
  };
  const again = (of = tools) => writeSkills({ directory, program }, [counted], of);
  const [skill] = await again();
  const path = skill?.skill_path as string;
  const text = readFileSync(path, "utf8");
  const { ino } = statSync(path);
  for (let time = 0; time < 3; time++) expect(await again()).toEqual([skill]);
  // A list that was put together anew of the same tools.
  await again([...tools]);
  expect(read).toBe(1);
  expect(statSync(path).ino).toBe(ino);
  rmSync(join(directory, "notes"), { recursive: true });
  await again();
  expect(readFileSync(path, "utf8")).toBe(text);
  writeFileSync(path, text.replace("Counted.", "Changed."));
  await again();
  expect(readFileSync(path, "utf8")).toBe(text);
  expect(read).toBe(1);
  await again(tools.slice(1));
  expect(readFileSync(path, "utf8")).not.toContain("## notes_add");
});

test("[SKL5] no id leads anywhere else or to another plugin's file", async () => {
  const directory = join(temporaryDirectory(), "skills");
  const ids = [
    "../../x",
    "/etc",
    "..",
    ".",
    "a/b",
    "bin",
    "NOTES",
    "nötes",
    "n\0",
    "x".repeat(300),
    "",
    "notes",
  ];
  const paths: string[] = [];
  for (const id of ids) {
    const path = (await write(directory, { ...notes, id })).map(({ skill_path }) => skill_path).join();
    expect(path.startsWith(`${directory}/`)).toBe(true);
    expect(path.slice(directory.length + 1).split("/")).toHaveLength(2);
    paths.push(path.toLowerCase());
  }
  expect(new Set(paths).size).toBe(ids.length);
});

test("[SKL5] a plugin that one workspace has does not overwrite another's of the same id", async () => {
  const directory = temporaryDirectory();
  const [common] = await write(directory);
  const [own] = await write(directory, { ...notes, guide: "Of one workspace." }, { workspace_id: "ws_1" });
  expect(own?.skill_path).not.toBe(common?.skill_path);
  expect(own?.cli_path).toBe(common?.cli_path);
  expect(readFileSync(common?.skill_path as string, "utf8")).not.toContain("Of one workspace.");
});
