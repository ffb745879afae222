import { of } from "./plant.js";

const WITHIN_THREAD = "src/gateway/rpc/within-thread.ts";

export const scope = of(
  "scope",
  {
    name: "the token of a thread works in another",
    file: WITHIN_THREAD,
    guard: "if (!isOwn(given.workspace_id, workspace_id) || !isOwn(given.thread_id, thread_id)) {",
    hole: "if (!isOwn(workspace_id, workspace_id) || !isOwn(thread_id, thread_id)) {",
    also: [
      {
        file: WITHIN_THREAD,
        guard: "return { ...given, workspace_id, thread_id };",
        hole: "return { workspace_id, thread_id, ...given };",
      },
    ],
    attack: "test/attack/tokens.test.ts",
    caught: "[SCP22]",
  },
  {
    name: "an agent's lists are not looked at",
    file: "src/agents/effective-tools.ts",
    guard: "const reason = whyNot(agent, tool);",
    hole: 'const reason = tool.name === "" ? whyNot(agent, tool) : undefined;',
    attack: "test/attack/model-calls.test.ts",
    caught: "[SCP10] listed is refused open_door",
    quick: true,
  },
  {
    name: "the token of a thread opens every method",
    file: WITHIN_THREAD,
    guard: "if (!ALLOWED.has(method)) {",
    hole: "if (ALLOWED.size === 0) {",
    attack: "test/attack/tokens.test.ts",
    caught: "[SCP23]",
  },
  {
    name: "the token of a thread opens every address",
    file: "src/gateway/http/routes.ts",
    guard: 'if (admitted.bound && path !== "/rpc" && path !== "/mcp") {',
    hole: 'if (admitted.bound && path === "") {',
    attack: "test/attack/tokens.test.ts",
    caught: "[SCP24]",
  },
  {
    name: "commands have the gateway's keys",
    file: "src/app/child-env.ts",
    guard: "Object.entries(env).filter(([name, value]) => !isOurs(name, value))",
    hole: 'Object.entries(env).filter(([name, value]) => name !== "" || !isOurs(name, value))',
    attack: "test/attack/commands.test.ts",
    caught: "[SCP33]",
  },
);

export const markdown = of(
  "markdown",
  {
    name: "HTML in a text becomes part of the page",
    file: "web/ui/markdown/markdown.tsx",
    guard: '<div className="md">\n      <ReactMarkdown',
    hole: '<div className="md">\n      <div dangerouslySetInnerHTML={{ __html: text }} />\n      <ReactMarkdown',
    into: "page",
    inBrowser: true,
    attack: "test/page/hostile.test.ts",
    caught: "[PTH40] nothing that is said",
    quick: true,
  },
  {
    name: "a link may lead to a script",
    file: "web/ui/markdown/schema.ts",
    guard: 'href: ["http", "https", "mailto"]',
    hole: 'href: ["http", "https", "mailto", "javascript", "data", "vbscript", "file"]',
    also: [
      {
        file: "web/ui/markdown/outside-link.tsx",
        guard: "return SCHEMES.has(url.protocol) ? url : undefined;",
        hole: "return SCHEMES.size > 0 ? url : undefined;",
      },
    ],
    into: "page",
    inBrowser: true,
    attack: "test/page/hostile.test.ts",
    caught: "[PTH40] nothing that is said",
  },
  {
    name: "the page may run what is written into it",
    file: "src/gateway/http/page.ts",
    guard: "\"script-src 'self'\",",
    hole: "\"script-src 'self' 'unsafe-inline'\",",
    attack: "test/e2e/page-files.test.ts",
    caught: "[WIRE160]",
  },
);

export const sections = of(
  "prompt sections",
  {
    name: "a document closes its own section",
    file: "src/prompts/sections/agents-doc.ts",
    guard: "content: withoutClosingTag(withoutOuterBlankLines(doc.content)),",
    hole: 'content: doc.content === "" ? withoutClosingTag("") : withoutOuterBlankLines(doc.content),',
    attack: "test/attack/sections.test.ts",
    caught: "[ATK30]",
    quick: true,
  },
  {
    name: "a folder's name leaves its attribute",
    file: "src/prompts/sections/agents-doc.ts",
    guard: "const source = escapedAttribute(pathOf(levels.slice(level)));",
    hole: 'const source = escapedAttribute("") + pathOf(levels.slice(level));',
    attack: "test/attack/sections.test.ts",
    caught: "[ATK31]",
  },
  {
    name: "descriptions and names begin lines of their own",
    file: "src/prompts/sections/on-one-line.ts",
    guard: '.replace(/[\\s\\p{Cc}]+/gu, " ")',
    hole: "",
    attack: "test/attack/prompt.test.ts",
    caught: "[SCP90] every section begins once",
  },
  {
    name: "what a panel shows leaves the context line",
    file: "web/state/context-text.ts",
    guard: 'const SPECIAL = /[&"<>\\p{Cc}\\u2028\\u2029]/gu;',
    hole: "const SPECIAL = /[&]/gu;",
    attack: "test/page/artifacts-context-line.test.ts",
    caught: "[PAT2] whatever it holds",
  },
);
