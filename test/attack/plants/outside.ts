import { of } from "./plant.js";

const ORIGIN = "src/gateway/http/origin.ts";
const CROSS_SITE = "test/attack/cross-site.test.ts";
const REBINDING = "test/attack/rebinding.test.ts";

export const crossSite = of(
  "cross-site",
  {
    name: "a page of any origin is answered",
    file: ORIGIN,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is source text
    guard: "return origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`;",
    hole: "return false;",
    attack: CROSS_SITE,
    caught: "[ATK10] a page of another site gets nothing",
    quick: true,
  },
  {
    name: "a WebSocket is opened for any origin",
    file: "src/gateway/http/websocket.ts",
    guard: 'if (isForeign(headers.host, headers.origin, host)) return "403 Forbidden";',
    hole: "",
    attack: CROSS_SITE,
    caught: "[ATK10] a page of another site gets nothing",
  },
  {
    name: "other sites are told that they may read",
    file: "src/gateway/http/headers.ts",
    guard: '"X-Content-Type-Options": "nosniff",',
    hole: '"X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*",',
    attack: CROSS_SITE,
    caught: "[ATK12] no answer may be taken into a page",
  },
  {
    name: "pages of the same host may show pictures",
    file: "src/gateway/http/headers.ts",
    guard: '"Cross-Origin-Resource-Policy": "same-origin",',
    hole: "",
    inBrowser: true,
    attack: "test/attack/browser.test.ts",
    caught: "[ATK13] a page of 127.0.0.1",
  },
  {
    name: "the session is sent along from anywhere",
    file: "src/gateway/http/auth.ts",
    guard: "SameSite=Strict",
    hole: "SameSite=Lax",
    attack: "test/e2e/auth-session.test.ts",
    caught: "[WIRE56] the code of the printed address",
  },
);

export const rebinding = of(
  "rebinding",
  {
    name: "any name that leads here is answered",
    file: ORIGIN,
    guard: "!isOurs(name, listening.toLowerCase())",
    hole: "!isOurs(name, listening.toLowerCase()) && false",
    attack: REBINDING,
    caught: "[ATK15] a name that leads to the gateway",
    quick: true,
  },
  {
    name: "a name that begins like ours is ours",
    file: ORIGIN,
    guard: "if (LOOPBACK.has(name) ||",
    hole: "if ([...LOOPBACK].some((own) => name.startsWith(own)) ||",
    attack: REBINDING,
    caught: "[ATK15] a name that leads to the gateway",
  },
);

export const paths = of(
  "paths",
  {
    name: "a path may lead out of the project",
    file: "src/tools/files/find.ts",
    guard: "return out ? undefined : below;",
    hole: "return out ? below : below;",
    attack: "test/attack/paths.test.ts",
    caught: "[SCP60] no file tool leads out",
    quick: true,
  },
  {
    name: "a tool's argument may lead out of the project",
    file: "src/tools/files/find.ts",
    guard: "return out ? undefined : below;",
    hole: "return out ? below : below;",
    attack: "test/attack/path-params.test.ts",
    caught: "[ATK21] no tool does",
  },
  {
    name: "an archive may name files above where it is unpacked",
    file: "src/atsf/archive/entry-place.ts",
    guard: 'name.includes("\\0") || parts.includes("..")',
    hole: 'name.includes("\\0")',
    attack: "test/atsf/archive-refusals.test.ts",
    caught: "[ARC12]",
  },
  {
    name: "any file of the page's directory is served, and those around it",
    file: "src/app/page-files.ts",
    guard: "const type = NAME.test(path) ? TYPES[extname(path)] : undefined;",
    hole: 'const type = TYPES[extname(path)] ?? "text/plain";',
    attack: "test/e2e/page-files.test.ts",
    caught: "[WIRE161] no address of a file",
  },
);

export const links = of(
  "links",
  {
    name: "links in a thread's files are followed anywhere",
    file: "src/atsf/confined.ts",
    guard: "return real === base || real.startsWith(base + sep);",
    hole: "return real !== base + sep;",
    attack: "test/attack/links.test.ts",
    caught: "[ATK25] .agent",
    quick: true,
  },
  {
    name: "links among prompt packs are followed anywhere",
    file: "src/prompts/packs/source/working-tree.ts",
    guard: "if (!real.startsWith(base.endsWith(sep) ? base : base + sep))",
    hole: 'if (real === "")',
    attack: "test/attack/links.test.ts",
    caught: "[ATK25] prompts/packs",
  },
  {
    name: "a project's configuration may be a link",
    file: "src/app/project-file.ts",
    guard: "if (real.startsWith(realpathSync(root) + sep)) return real;",
    hole: "return real;",
    attack: "test/attack/links.test.ts",
    caught: "[ATK25] heddle.config.json",
  },
  {
    name: "file tools follow links out of the project",
    file: "src/tools/files/find.ts",
    guard: "const below = belowOf(base, real);\n  if (below === undefined) {",
    hole: 'const below = belowOf(base, real) ?? "";\n  if (below === undefined) {',
    attack: "test/attack/paths.test.ts",
    caught: "[SCP60] no file tool leads out",
  },
  {
    name: "an import of AGENTS.md files follows links out",
    file: "src/cli/commands/agents-md/find-files.ts",
    guard: "return isWithin(target, top) && (await stat(target)).isFile();",
    hole: "return isWithin(target, top) || (await stat(target)).isFile();",
    into: "command",
    attack: "test/e2e/cli-files.test.ts",
    caught: "[CLI81]",
  },
);
