import { mkdir, readFile } from "node:fs/promises";
import { atsfError } from "./errors.js";
import { isMissing, writeAtomic } from "./files.js";
import { changeJson, type JsonChange } from "./json-text.js";
import { agentDir, configFile } from "./layout.js";
import { type ProjectConfig, projectConfig } from "./schemas.js";
import { findSecret } from "./secrets.js";
import { assertReadable, SPEC_VERSION, versionToWrite } from "./version.js";

/** The project's configuration; undefined when there is none. */
export async function readConfig(root: string): Promise<ProjectConfig | undefined> {
  const text = await readText(configFile(root));
  return text === undefined ? undefined : parse(text, configFile(root));
}

/** Changes values of `config.json`, making it if need be; everything else in it stays to the byte. */
export async function changeConfig(
  root: string,
  createdBy: { name: string; version: string },
  changes: readonly JsonChange[],
): Promise<ProjectConfig> {
  const file = configFile(root);
  const found = await readText(file);
  const text = found ?? JSON.stringify({ specVersion: SPEC_VERSION, createdBy }, null, 2);
  const version = { path: ["specVersion"], value: versionToWrite(parse(text, file).specVersion) };
  const next = changeJson(text, [version, ...changes]);
  const config = parse(next, file);
  const secret = findSecret(config);
  if (secret) {
    throw atsfError(
      { kind: "atsf.secret", file, path: secret },
      `${secret} looks like a key or token. ${file} is shared with others and must not hold secrets; nothing was written.`,
    );
  }
  await mkdir(agentDir(root), { recursive: true });
  if (next !== found) await writeAtomic(file, next);
  return config;
}

function parse(text: string, file: string): ProjectConfig {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  assertReadable((value as { specVersion?: unknown } | undefined)?.specVersion, file);
  const parsed = projectConfig.safeParse(
    typeof value === "object" && value !== null ? { specVersion: "1.0", ...value } : value,
  );
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const why = value === undefined ? "it is not JSON" : `${issue?.path.join(".")}: ${issue?.message}`;
  throw atsfError({ kind: "atsf.invalid_file", file, problem: "schema" }, `${file} can't be used: ${why}.`);
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
