import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "./config.js";
import { isInside } from "./confined.js";
import { reading } from "./disk.js";
import { isMissing, isThere } from "./files.js";
import { parseObject, readJsonFile } from "./json-file.js";
import { agentDir, configFile, gitignoreFile, threadsDir } from "./layout.js";
import { leftOver } from "./left-over.js";
import { errorIn, type Problem, refusalOf, warningIn } from "./problems.js";
import { secretsIn } from "./secrets.js";
import { validateThread } from "./validate-thread.js";

/** Everything that is wrong with the threads of a project directory, file by file as it is found. Changes nothing. */
export async function* validate(root: string): AsyncGenerator<Problem> {
  for (const dir of [root, agentDir(root), threadsDir(root)]) {
    const problem = await notADirectory(root, dir);
    if (problem) yield problem;
    if (problem || !(await isThere(dir))) return;
    if (dir === agentDir(root)) {
      yield* validateConfig(root);
      yield* validateLeftOver(dir);
    }
  }
  yield* validateGitignore(root);
  yield* validateLeftOver(threadsDir(root));
  const names = await reading(threadsDir(root), () => readdir(threadsDir(root)));
  for (const name of names.sort()) {
    if (name.startsWith(".")) continue;
    yield* validateThread(root, name);
    yield* validateLeftOver(join(threadsDir(root), name));
    yield* validateLeftOver(join(threadsDir(root), name, "assets"));
  }
}

async function notADirectory(root: string, dir: string): Promise<Problem | undefined> {
  const found = await lstat(dir).catch((error) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (!found) {
    const told = { is: "missing", message: `${dir} does not exist.`, advice: "Give a directory that does." };
    return dir === root ? errorIn(dir, told) : undefined;
  }
  if (found.isSymbolicLink() && dir !== root && !(await isInside(root, dir).catch(() => false))) {
    const message = "It is a link that leads out of the project, and is not followed.";
    return errorIn(dir, { is: "leads_out", message, advice: "Replace it by a directory." });
  }
  if (found.isDirectory() || found.isSymbolicLink()) return undefined;
  const message = "It is a file where a directory should be.";
  return errorIn(dir, { is: "not_a_directory", message, advice: "Move it away." });
}

async function* validateConfig(root: string): AsyncGenerator<Problem> {
  const file = configFile(root);
  try {
    const json = await readJsonFile(file);
    if (!json) return;
    const config = await readConfig(root);
    if (!("specVersion" in parseObject(json))) {
      const message = "It has no specVersion and is read as 1.0.";
      yield warningIn(file, { is: "no_version", message, advice: "Repair adds it." }, { repairable: true });
    }
    for (const path of secretsIn(config)) {
      const advice =
        "Move it to where the application keeps its secrets, and have it replaced: others may have read it.";
      yield errorIn(file, { is: "secret", message: `${path} looks like a key or token.`, advice });
    }
  } catch (error) {
    yield refusalOf(file, error, "Correct it by hand.");
  }
}

async function* validateGitignore(root: string): AsyncGenerator<Problem> {
  if (await isThere(gitignoreFile(root))) return;
  const message = "There is none, so threads could be committed by accident.";
  const told = { is: "missing", message, advice: "Repair writes the default one." };
  yield warningIn(gitignoreFile(root), told, { repairable: true });
}

async function* validateLeftOver(dir: string): AsyncGenerator<Problem> {
  for (const name of await leftOver(dir, Date.now())) {
    const message = "A program that ended too early left it behind.";
    const told = { is: "left_over", message, advice: "Repair removes it." };
    yield warningIn(join(dir, name), told, { repairable: true });
  }
}
