import { plainWords, sha256, Turns } from "../base/index.js";
import { assertInside } from "./confined.js";
import { writing } from "./disk.js";
import { atsfError } from "./errors.js";
import { makeDirectory } from "./files.js";
import { type JsonFile, parseObject, readJsonFile, rewriteJsonFile, unusable } from "./json-file.js";
import { changeJson, type JsonChange } from "./json-text.js";
import { agentDir, configFile } from "./layout.js";
import { type ProjectConfig, projectConfig } from "./schemas.js";
import { findSecret } from "./secrets.js";
import { assertReadable, SPEC_VERSION, versionToWrite } from "./version.js";

/** The project's configuration; undefined when there is none. */
export async function readConfig(root: string): Promise<ProjectConfig | undefined> {
  return (await readConfigFile(root))?.config;
}

export interface ConfigFile {
  readonly config: ProjectConfig;
  /** Of the bytes the configuration was read from. */
  readonly sha256: string;
}

/** The same with the hash of the file: whoever trusts a content must get the one that was hashed. */
export async function readConfigFile(root: string): Promise<ConfigFile | undefined> {
  const json = await readJson(root);
  return json && { config: parse(json), sha256: sha256(json.mark + json.text) };
}

/** Changes values of `config.json`, making it if need be; everything else in it stays to the byte. */
export function changeConfig(
  root: string,
  createdBy: { name: string; version: string },
  changes: readonly JsonChange[],
): Promise<ProjectConfig> {
  return turns.run(configFile(root), () => change(root, createdBy, changes));
}

/** Two changes at once would read the same text, and the second would undo the first. */
const turns = new Turns();

async function change(
  root: string,
  createdBy: { name: string; version: string },
  changes: readonly JsonChange[],
): Promise<ProjectConfig> {
  const file = configFile(root);
  const found = await readJson(root);
  const text = found?.text ?? `${JSON.stringify({ specVersion: SPEC_VERSION, createdBy }, null, 2)}\n`;
  const json = found ?? { file, mark: "", text };
  const version = { path: ["specVersion"], value: versionToWrite(parse(json).specVersion) };
  const next = changeJson(text, [version, ...changes]);
  const config = parse({ ...json, text: next });
  const secret = findSecret(config);
  if (secret) {
    throw atsfError(
      { kind: "atsf.secret", file, path: secret },
      `${secret} looks like a key or token. ${file} is shared with others and must not hold secrets; nothing was written.`,
    );
  }
  await writing(file, () => makeDirectory(agentDir(root)));
  await rewriteJsonFile({ ...json, text: found?.text ?? "" }, next);
  return config;
}

/** A link would have others' files read, and replaced by ours. */
async function readJson(root: string): Promise<JsonFile | undefined> {
  await assertInside(root, agentDir(root));
  await assertInside(root, configFile(root));
  return readJsonFile(configFile(root));
}

function parse(json: JsonFile): ProjectConfig {
  const value = parseObject(json);
  assertReadable(value.specVersion, json.file);
  const parsed = projectConfig.safeParse({ specVersion: "1.0", ...value }, { error: plainWords });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw unusable(json.file, "schema", `${issue?.path.join(".")} ${issue?.message}`);
}
