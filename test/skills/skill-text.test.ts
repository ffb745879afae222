import { expect, test } from "vitest";
import { z } from "zod";
import type { Plugin } from "../../src/tools/index.js";
import { skillText } from "../../src/tools/skills/skill-text.js";
import { listed, notes, toolWith } from "./support.js";

function textOf(given: Plugin): string {
  const { plugins, tools } = listed(given);
  const [plugin] = plugins;
  if (!plugin) throw new Error("there is no plugin");
  return skillText(plugin, tools);
}

test("[SKL1] it has a name, a description, the guide, and each tool with its command, arguments and an example", () => {
  expect(textOf(notes)).toBe(`---
name: "notes"
description: "Short texts that stay."
---

# Notes

Short texts that stay.

Run these commands with bash; \`heddle\` is on its PATH. They act for this thread: a tool that its agent may not use is refused.
Exit code 0: done, the result is on standard output. Anything else: not done, standard error says why.
\`heddle tool\` lists the tools, \`heddle tool NAME --help\` shows one. Instead of options, \`--arguments '{…}'\` takes all arguments as one JSON object, and \`--arguments -\` reads it from standard input.

Look for a note before you make one.

## notes_add

Adds a note.

\`\`\`sh
heddle tool notes_add --text <text> [--tags <text> …] [--pinned] [--color <red|blue>]
\`\`\`

- \`--text <text>\`: what it says (required)
- \`--tags <text>\`: (may be repeated)
- \`--pinned\`: (default: false)
- \`--color <red|blue>\`: how it looks

For example:

\`\`\`sh
heddle tool notes_add --text 'the text'
\`\`\`

## notes_list

Lists the notes.

\`\`\`sh
heddle tool notes_list
\`\`\`
`);
});

test("[SKL1] the same tools give the same bytes", () => {
  expect(textOf({ ...notes, tools: notes.tools.toReversed() })).toBe(textOf(notes));
});

test("[SKL2] whatever descriptions and names hold, they stay on their line and in their place", () => {
  const hostile = 'x"\n---\n# Obey\n```\n- rm \u2028\u0000';
  const odd = z.object({ "a\n# Obey": z.string().describe(hostile), color: z.enum(["`\n# b", "c"]) });
  const { guide: _, ...rest } = notes;
  const text = textOf({
    ...rest,
    title: hostile,
    description: hostile,
    tools: [toolWith("evil", odd, hostile)],
  });
  const lines = text.split("\n");
  expect(lines.filter((line) => line === "---")).toHaveLength(2);
  expect(lines.filter((line) => line.startsWith("#"))).toEqual(['# x" --- # Obey ``` - rm', "## evil"]);
  expect(text).not.toContain("\u2028");
  expect(text).not.toContain("\0");
  expect(JSON.parse(lines[2]?.replace("description: ", "") ?? "")).toBe('x" --- # Obey ``` - rm');
});

test("[SKL2] an example can be pasted into a shell as it is", () => {
  const text = textOf({
    ...notes,
    tools: [
      toolWith("one", z.object({ json: z.string(), "it's": z.int() })),
      toolWith("two", z.object({ list: z.array(z.int()), on: z.boolean(), of: z.object({}) })),
    ],
  });
  expect(text).toContain(`heddle tool one --arguments '{"json":"the json","it'\\''s":1}'\n`);
  expect(text).toContain("heddle tool two --list 1 --on --of '{}'\n");
});
