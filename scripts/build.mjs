// Builds dist/: types and subpath exports with tsc, the command as one bundle with rolldown (file count dominates start-up).
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { rolldown } from "rolldown";
import { build } from "vite";

// Whoever builds in the course of a test has another one set, and would get a page for developers.
process.env.NODE_ENV = "production";

// tsc keeps the outputs of deleted sources, and its build info would then skip what was cleared.
rmSync("dist", { recursive: true, force: true });
rmSync(".cache/build.tsbuildinfo", { force: true });

const tsc = spawnSync(
  process.execPath,
  ["node_modules/typescript/bin/tsc", "-p", "tsconfig.json", "--noEmitOnError"],
  {
    stdio: "inherit",
  },
);
if (tsc.status !== 0) process.exit(tsc.status ?? 1);

// What is always loaded together is one file: each file more costs every start most of a millisecond. A module goes with the first
// of these that needs it at once.
const together = [
  ["main", "dist/cli/main.js"],
  ["client", "dist/client/node.js"],
  ["files", "dist/cli/commands/bare/validate.js"],
  ["tools", "dist/cli/commands/tool/verbs.js"],
  ["gateway", "dist/app/index.js"],
].map(([name, root], at, { length }) => ({
  name,
  test: (id) => id === resolve(root),
  priority: length - at,
  includeDependenciesRecursively: true,
}));

const bundle = await rolldown({
  input: { heddle: "dist/cli/main.js" },
  platform: "node",
  external: ["libsql", "pg-native"],
  // Its `main` asks for its parts in a way no bundler can follow.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  logLevel: "warn",
});
const { output } = await bundle.write({
  dir: "dist/bin",
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  codeSplitting: { groups: together },
  // Names of functions and classes stay: a stack that somebody sends us must be read.
  minify: { mangle: { keepNames: { function: true, class: true } }, compress: true, codegen: true },
});
await bundle.close();
for (const { fileName, code } of output) writeFileSync(`dist/bin/${fileName}`, inAscii(code));
chmodSync("dist/bin/heddle.js", 0o755);

// The page, where the gateway finds it: beside the command.
await build({ configFile: "web/vite.config.ts", logLevel: "warn" });

/** One letter beyond Latin-1 makes Node take two bytes for each of a file's: slower to compile, twice as much to keep. */
function inAscii(code) {
  if (/\\[\u0080-\uffff]/.test(code)) throw new Error("a letter beyond ASCII stands behind a backslash");
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
