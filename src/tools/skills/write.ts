import { rmSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "../../base/index.js";
import type { ListedTool } from "../accept.js";
import type { ListedPlugin } from "../plugin.js";
import { plain } from "./option-text.js";
import { skillText } from "./skill-text.js";
import { writeChanged } from "./write-changed.js";

/** A skill as a prompt names it. */
export interface Skill {
  readonly id: string;
  readonly description: string;
  readonly skill_path: string;
  readonly cli_path: string;
}

export interface SkillsPlace {
  /** Where they are kept: one directory for each plugin, and `bin`. */
  readonly directory: string;
  /** How this program is started: the words of its command line, absolute where they are paths. */
  readonly program: readonly string[];
  /** For plugins that only this workspace has: another may have others of the same id. */
  readonly workspace_id?: string;
}

/** Where the command is that skills are used with: a directory for a PATH. */
export function commandDirectory({ directory }: Pick<SkillsPlace, "directory">): string {
  return join(directory, "bin");
}

/** Removes what a gateway that was killed was writing. Only before anything is written. */
export function tidySkills(place: Pick<SkillsPlace, "directory">): void {
  rmSync(draftsIn(place), { recursive: true, force: true });
}

function draftsIn({ directory }: Pick<SkillsPlace, "directory">): string {
  return join(directory, ".drafts");
}

/** Writes the SKILL.md of each plugin and the command they are used with, as far as they are not there already. */
export async function writeSkills(
  place: SkillsPlace,
  plugins: readonly ListedPlugin[],
  tools: readonly ListedTool[],
): Promise<readonly Skill[]> {
  if (plugins.length === 0) return [];
  const cli_path = await writeCommand(place);
  return Promise.all(
    plugins.map(async (plugin) => {
      const { id, description } = plugin;
      const text = textOf(plugin, toolsOf(plugin, tools));
      const skill_path = join(place.directory, place.workspace_id ?? "", directoryName(id), "SKILL.md");
      await writeChanged({ path: skill_path, mode: 0o600, drafts: draftsIn(place) }, text);
      return { id, description: plain(description), skill_path, cli_path };
    }),
  );
}

/** Plugins and tools are replaced, never changed: what was written of them holds. */
const known = new WeakMap<ListedPlugin, { readonly tools: readonly ListedTool[]; readonly text: string }>();

function textOf(plugin: ListedPlugin, tools: readonly ListedTool[]): string {
  const before = known.get(plugin);
  const isSame =
    before?.tools.length === tools.length && tools.every((tool, at) => tool === before.tools[at]);
  if (before && isSame) return before.text;
  const text = skillText(plugin, tools);
  known.set(plugin, { tools, text });
  return text;
}

/** Makes the command that skills are used with. Answers its path. */
export async function writeCommand(place: SkillsPlace): Promise<string> {
  const path = join(commandDirectory(place), "heddle");
  await writeChanged({ path, mode: 0o700, drafts: draftsIn(place) }, commandText(place.program));
  return path;
}

function toolsOf({ tools: names }: ListedPlugin, tools: readonly ListedTool[]): readonly ListedTool[] {
  return tools.filter(({ name }) => names.includes(name));
}

/** An id is a plugin's own choice: it must not lead anywhere else, nor to another plugin's directory. */
function directoryName(id: string): string {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id) && id !== "bin") return id;
  const readable = id.replace(/[^a-z0-9_-]+/gi, "-").slice(0, 40);
  return `${readable}.${sha256(id).slice(0, 12)}`;
}

/** A script and no link: the program may need words before its own. */
function commandText(program: readonly string[]): string {
  const words = program.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`;
}
