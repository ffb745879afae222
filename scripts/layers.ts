/**
 * The layer table of the source tree. Biome's import rules in `biome.json` are generated from it
 * (`npm run generate`), and a test fails when they are stale.
 */
interface Layer {
  readonly level: number;
  /** Packages this module may import although `guarded` keeps everyone else away from them. */
  readonly may?: readonly string[];
  /** The only modules it may import, whatever their level. */
  readonly only?: readonly string[];
  readonly env?: true;
}

export const layers: Readonly<Record<string, Layer>> = {
  protocol: { level: 0, only: [] },
  base: { level: 0, only: [] },
  atsf: { level: 1, only: ["base"], may: ["execa", "jsonc-parser", "modern-tar"] },
  hooks: { level: 1, only: ["base"] },
  store: { level: 1, may: ["pg", "kysely", "libsql", "node:sqlite"] },
  providers: {
    level: 1,
    only: ["base"],
    may: [
      "@agentclientprotocol/sdk",
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
      "@ai-sdk/anthropic",
      "@ai-sdk/google",
      "undici",
    ],
  },
  tree: { level: 2 },
  journal: { level: 2 },
  instructions: { level: 3 },
  threads: { level: 3 },
  tools: { level: 3, may: ["@modelcontextprotocol/client"] },
  agents: { level: 4, may: ["jsonc-parser"] },
  prompts: { level: 5, may: ["execa"] },
  imports: { level: 5 },
  runs: { level: 6 },
  gateway: {
    level: 7,
    may: ["ws", "hono", "@hono/node-server", "prom-client", "@modelcontextprotocol/server"],
  },
  app: { level: 8, env: true, may: ["pino"] },
  client: { level: 8, only: ["protocol"], may: ["ws"] },
  cli: { level: 9, env: true, may: ["commander", "@clack/prompts"] },
};

/** Packages that belong to a few modules only. */
const guarded = [
  "@agentclientprotocol/sdk",
  "@ai-sdk/openai",
  "@ai-sdk/openai-compatible",
  "@ai-sdk/anthropic",
  "@ai-sdk/google",
  "undici",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/server",
  "execa",
  "jsonc-parser",
  "modern-tar",
  "pg",
  "kysely",
  "libsql",
  "node:sqlite",
  "ws",
  "hono",
  "@hono/node-server",
  "prom-client",
  "pino",
  "commander",
  "@clack/prompts",
];

function allowedImports(name: string): string[] {
  const layer = layers[name] as Layer;
  if (layer.only) return [...layer.only];
  return Object.keys(layers).filter(
    (other) => other !== name && (layers[other] as Layer).level < layer.level,
  );
}

export function mayImport(name: string, other: string): boolean {
  return allowedImports(name).includes(other);
}

function patternsFor(name: string): object[] {
  const allowed = new Set(allowedImports(name));
  const others = Object.keys(layers).filter((other) => other !== name);
  const forbidden = others.filter((other) => !allowed.has(other));
  const patterns: object[] = [];
  if (forbidden.length > 0) {
    patterns.push({
      group: forbidden.map((other) => `**/${other}/**`),
      message: `${name} may import only: ${[...allowed].join(", ") || "nothing of ours"} (see the layer table in scripts/layers.ts)`,
    });
  }
  for (const other of allowed) {
    const doors = other === "client" ? ["index", "node"] : ["index"];
    patterns.push({
      group: [`**/${other}/**`, ...doors.map((door) => `!**/${other}/${door}.js`)],
      message: `go through ${other}/index.js`,
    });
  }
  return patterns;
}

function pathsFor(name: string): Record<string, string> {
  const layer = layers[name] as Layer;
  const may = new Set(layer.may ?? []);
  const paths: Record<string, string> = {};
  for (const pkg of guarded) {
    if (!may.has(pkg)) paths[pkg] = `${pkg} belongs to: ${owners(pkg).join(", ")}`;
  }
  if (!layer.env) paths["node:process"] = "only app and cli read the environment; pass values in";
  return paths;
}

function owners(pkg: string): string[] {
  return Object.keys(layers).filter((name) => (layers[name] as Layer).may?.includes(pkg));
}

/** One Biome override per module: paths and patterns together, because an override replaces a rule's options. */
export function biomeOverrides(): object[] {
  return [...Object.keys(layers).map(moduleOverride), pageOverride, serverOverride, suiteOverride];
}

function moduleOverride(name: string): object {
  return {
    includes: [`src/${name}/**`, "!**/*.test.ts"],
    linter: {
      rules: {
        style: {
          noRestrictedImports: {
            level: "error",
            options: { paths: pathsFor(name), patterns: patternsFor(name) },
          },
          noProcessEnv: (layers[name] as Layer).env ? "off" : "error",
        },
      },
    },
  };
}

/**
 * The page lives in a browser: of ours it knows what goes over the wire, and the client. Roles are judged by axe in a real
 * browser, which knows what a component renders; Biome sees only its source.
 */
const pageOverride = {
  includes: ["web/**", "!web/vite.config.ts"],
  linter: {
    rules: {
      style: {
        noRestrictedImports: {
          level: "error",
          options: {
            patterns: [
              {
                group: [
                  "**/src/**",
                  "!**/src/client/index.js",
                  "!**/src/protocol/index.js",
                  "!**/src/protocol/plain.js",
                ],
                message:
                  "the page may import only client/index.js, protocol/plain.js, and types of protocol/index.js",
              },
              { group: ["node:*"], message: "there is no Node.js in a browser" },
            ],
          },
        },
        noDescendingSpecificity: "off",
      },
      a11y: {
        noAriaHiddenOnFocusable: "off",
        noNoninteractiveElementToInteractiveRole: "off",
        noNoninteractiveTabindex: "off",
        noStaticElementInteractions: "off",
        noSvgWithoutTitle: "off",
        useAriaPropsSupportedByRole: "off",
        useFocusableInteractive: "off",
        useKeyWithClickEvents: "off",
        useSemanticElements: "off",
      },
    },
  },
};

/** A verb that begins with `use` is no hook where there is no React. */
const serverOverride = {
  includes: ["src/**", "test/**", "bench/**", "scripts/**"],
  linter: { rules: { correctness: { useHookAtTopLevel: "off" } } },
};

/** A suite is one function however many tests it holds; its file's length is bounded all the same. */
const suiteOverride = {
  includes: ["**/*.test.ts"],
  linter: { rules: { complexity: { noExcessiveLinesPerFunction: "off" } } },
};
