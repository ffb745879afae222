import type { Contribution, HookPackage } from "../../hooks/index.js";
import type { Resolver } from "../../instructions/index.js";

/** The AGENTS.md document in effect for a thread, as a section of its prompt. Without it a run must not go on. */
export function agentsDocPackage({ resolver }: { readonly resolver: Resolver }): HookPackage {
  return {
    id: "pioneer.prompt.agents_doc",
    domain: "pioneer.thread_agents_doc",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "pioneer.thread_agents_doc_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 10,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: 16_000,
        async run({ workspace_id, thread_id }) {
          const walk = await resolver.walkForThread(workspace_id, thread_id);
          return walk.nearest && { contributions: [sectionOf(walk.nearest, walk.levels)] };
        },
      },
    ],
  };
}

type Walk = Awaited<ReturnType<Resolver["walkForThread"]>>;

/** These words stand in every prompt of every thread: a change of one makes every prompt cache miss. */
const INTRODUCTION =
  "These are standing instructions for this part of the workspace. What the system, or the user in this conversation, says explicitly comes first.";

function sectionOf({ doc, level }: NonNullable<Walk["nearest"]>, levels: Walk["levels"]): Contribution {
  const source = escapedAttribute(pathOf(levels.slice(level)));
  return {
    kind: "prompt_section",
    section_id: "agents_md",
    title: "AGENTS.md",
    content: withoutClosingTag(withoutOuterBlankLines(doc.content)),
    wrapper: {
      open: `${INTRODUCTION}\n\n<AGENTS_MD source="${source}" version="${doc.version}">\n`,
      close: "\n</AGENTS_MD>",
    },
    source_refs: [{ kind: "document", id: doc.id, version: doc.version }],
  };
}

/** Characters of a path that are shown. 64 long names would fill the whole budget, and no run there would ever start. */
const MOST_PATH_CHARS = 1_000;

function pathOf(levels: Walk["levels"]): string {
  if (levels.length === 0) return "/";
  const path = [
    ...levels
      .map(({ name }) => name)
      .reverse()
      .join("/"),
  ];
  if (path.length <= MOST_PATH_CHARS) return path.join("");
  return `…${path.slice(1 - MOST_PATH_CHARS).join("")}`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  // A name may hold these two, and some readers take them for the end of a line.
  "\u2028": "&#8232;",
  "\u2029": "&#8233;",
};

function escapedAttribute(text: string): string {
  return text.replace(/[&<>"\u2028\u2029]/g, (character) => ENTITIES[character] ?? character);
}

/** Line by line: an expression for the end of a text takes the square of its time on thousands of empty lines. */
function withoutOuterBlankLines(content: string): string {
  const lines = content.split("\n");
  const hasText = (line: string) => /\P{White_Space}/u.test(line);
  return lines.slice(lines.findIndex(hasText), lines.findLastIndex(hasText) + 1).join("\n");
}

/** A document that closes its own section could go on in the system's voice. A model is no parser: it reads the lax forms too. */
function withoutClosingTag(content: string): string {
  const escaped = content.replace(CLOSING, "&lt;/AGENTS_MD");
  // In other letters (fullwidth, mathematical) it can be put together in too many ways: without its beginning it is none.
  return escaped.normalize("NFKC").search(CLOSING) < 0
    ? escaped
    : escaped.replace(/[<\uff1c\ufe64]/g, "&lt;");
}

const UNSEEN = String.raw`[\s\p{Default_Ignorable_Code_Point}]*`;
const CLOSING = new RegExp([..."</AGENTS_MD"].join(UNSEEN), "giu");
