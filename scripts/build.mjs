// Builds dist/: types and subpath exports with tsc, the command as one bundle with rolldown (file count dominates start-up).
import { spawnSync } from "node:child_process";
import { chmodSync, rmSync } from "node:fs";
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

const bundle = await rolldown({
  input: { heddle: "dist/cli/main.js" },
  platform: "node",
  external: ["libsql", "pg-native"],
  // Its `main` asks for its parts in a way no bundler can follow.
  resolve: { alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" } },
  logLevel: "warn",
});
await bundle.write({
  dir: "dist/bin",
  format: "esm",
  entryFileNames: "[name].js",
  chunkFileNames: "[name]-[hash].js",
  minify: { mangle: false, compress: true, codegen: true },
});
await bundle.close();
chmodSync("dist/bin/heddle.js", 0o755);

// The page, where the gateway finds it: beside the command.
await build({ configFile: "web/vite.config.ts", logLevel: "warn" });
