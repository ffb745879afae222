// Builds dist/: types and subpath exports with tsc, the command as one bundle with rolldown (reading and compiling its files dominate start-up).
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
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

const plain = { platform: "node", logLevel: "warn" };
// Names of functions and classes stay: a stack that somebody sends us must be read.
const minify = { mangle: { keepNames: { function: true, class: true } }, compress: true, codegen: true };

const first = await write(
  {
    ...plain,
    input: { main: "dist/cli/main.js" },
    external: ["libsql", "pg-native"],
    // Its `main` asks for its parts in a way no bundler can follow.
    resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  },
  {
    entryFileNames: "[name]-[hash].js",
    chunkFileNames: "[name]-[hash].js",
    codeSplitting: { groups: together },
  },
);
const define = { FIRST_PART: JSON.stringify(first) };
await write(
  { ...plain, input: { heddle: "dist/cli/entry.js" }, transform: { define } },
  { entryFileNames: "[name].js" },
);
writeFileSync("dist/bin/package.json", '{ "type": "commonjs" }\n');
chmodSync("dist/bin/heddle.js", 0o755);
compileAhead();

// The page, where the gateway finds it: beside the command.
await build({ configFile: "web/vite.config.ts", logLevel: "warn" });

/** Bundles into dist/bin, as modules that are loaded at once: Node keeps no compiled code of others. Answers the entry's file. */
async function write(input, output) {
  const bundle = await rolldown(input);
  const written = await bundle.write({ dir: "dist/bin", format: "cjs", minify, ...output });
  await bundle.close();
  for (const { fileName, code } of written.output) writeFileSync(`dist/bin/${fileName}`, inAscii(code));
  return written.output.find(({ isEntry }) => isEntry).fileName;
}

/** A first start, so that the next one finds its code compiled (`cli/parts.ts`). */
function compileAhead() {
  const data = mkdtempSync(join(tmpdir(), "heddle-build-"));
  // Nothing of whoever builds: the message is for nobody's gateway.
  const env = { PATH: process.env.PATH, HOME: data, XDG_DATA_HOME: data, HEDDLE_DETECT: "off" };
  const { status, stderr } = spawnSync(process.execPath, [resolve("dist/bin/heddle.js"), "send", "hello"], {
    cwd: data,
    env,
    encoding: "utf8",
  });
  rmSync(data, { recursive: true, force: true });
  if (status !== 0) throw new Error(`the built command does not work: ${stderr}`);
}

/** One letter beyond Latin-1 makes Node take two bytes for each of a file's: slower to compile, twice as much to keep. */
function inAscii(code) {
  if (/\\[\u0080-\uffff]/.test(code)) throw new Error("a letter beyond ASCII stands behind a backslash");
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
