import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { temporaryDirectory } from "../support/stores.js";

const bundles = new Map<string, Promise<string>>();

/** A program of `children/` as one plain file: it starts several times faster than through a loader of TypeScript. */
function bundled(name: string): Promise<string> {
  const known = bundles.get(name) ?? build(name);
  bundles.set(name, known);
  return known;
}

async function build(name: string): Promise<string> {
  const file = join(temporaryDirectory(), `${name}.mjs`);
  const bundle = await rolldown({
    input: resolve(`test/atsf/children/${name}.ts`),
    platform: "node",
    external: [/^node:/, "libsql"],
    // One package's own main file can't be bundled; its module can.
    resolve: { mainFields: ["module", "main"] },
  });
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  return file;
}

/** A file outside the project finds the one package that is not bundled by this. */
export const childEnvironment = { PATH: process.env.PATH ?? "", NODE_PATH: resolve("node_modules") };

/** Starts a program of `children/`; `shell` may put commands before it, which end with `exec "$@"`. */
export async function startChild(
  name: string,
  args: readonly string[],
  { shell, ...options }: SpawnOptions & { shell?: string } = {},
): Promise<ChildProcess> {
  const command = [process.execPath, await bundled(name), ...args];
  const [program = "", ...rest] = shell === undefined ? command : ["sh", "-c", shell, "sh", ...command];
  return spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"], env: childEnvironment, ...options });
}

export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

export async function runChild(name: string, args: readonly string[], shell?: string): Promise<Ended> {
  const child = await startChild(name, args, shell === undefined ? {} : { shell });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, output };
}
