import { acceptDefinition, type ListedTool, type RegisteredTool } from "./accept.js";
import { callTool } from "./call.js";
import { toolError } from "./errors.js";
import { nearest } from "./nearest.js";
import { failed } from "./outcome.js";
import type { ListedPlugin, Plugin } from "./plugin.js";
import { quoted } from "./quoted.js";
import type { ToolContext, ToolDefinition, ToolOutcome } from "./tool.js";

/** Where a plugin is there for one workspace only; `EVERYWHERE` for all of them. */
const EVERYWHERE = "";

interface Installed {
  readonly plugin: ListedPlugin;
  readonly tools: readonly RegisteredTool[];
}

interface Seen {
  readonly byName: ReadonlyMap<string, RegisteredTool>;
  readonly list: readonly ListedTool[];
  readonly plugins: readonly ListedPlugin[];
}

/** The tools there are. It knows no agent: whether one may call a tool is decided by whoever calls `call`. */
export class ToolRegistry {
  /** Tools without a plugin. */
  #loose: readonly RegisteredTool[] = [];
  /** By workspace, by id. */
  readonly #installed = new Map<string, ReadonlyMap<string, Installed>>();
  /** What a workspace sees, until something changes: the same list again is the same object. */
  readonly #seen = new Map<string, Seen>();

  /** All of them or none. */
  register(...definitions: readonly ToolDefinition[]): void {
    const added = definitions.map((definition) => acceptDefinition(definition));
    this.#refuseTaken(added, EVERYWHERE, undefined);
    this.#loose = [...this.#loose, ...added];
    this.#seen.clear();
  }

  /** Puts a plugin with all its tools, or none of them, in the place of the one of its id; for one workspace, or for all. */
  setPlugin(given: Plugin, workspace_id = EVERYWHERE): void {
    const { id, title, description, guide } = given;
    const tools = given.tools.map((definition) => acceptDefinition(definition, id));
    this.#refuseTaken(tools, workspace_id, id);
    const names = tools.map(({ listed }) => listed.name).sort(byCodeUnits);
    const plugin = { id, title, description, ...(guide !== undefined && { guide }), tools: names };
    this.#installed.set(workspace_id, new Map(this.#installed.get(workspace_id)).set(id, { plugin, tools }));
    this.#seen.clear();
  }

  removePlugin(id: string, workspace_id = EVERYWHERE): void {
    const left = new Map(this.#installed.get(workspace_id));
    left.delete(id);
    if (left.size > 0) this.#installed.set(workspace_id, left);
    else this.#installed.delete(workspace_id);
    this.#seen.clear();
  }

  /** By name, in the order of code units: the same bytes whoever registered first. */
  list(workspace_id = EVERYWHERE): readonly ListedTool[] {
    return this.#look(workspace_id).list;
  }

  /** By id. */
  plugins(workspace_id = EVERYWHERE): readonly ListedPlugin[] {
    return this.#look(workspace_id).plugins;
  }

  get(name: string, workspace_id = EVERYWHERE): ToolDefinition | undefined {
    return this.#look(workspace_id).byName.get(name)?.definition;
  }

  /** Never throws: whatever goes wrong is an outcome that says what to do. Arguments come as an object or as its JSON. */
  async call(
    name: string,
    given: string | Record<string, unknown>,
    context: ToolContext,
  ): Promise<ToolOutcome & { readonly duration_ms: number }> {
    const began = context.clock.now();
    const tool = this.get(name, context.workspace_id);
    const outcome = tool
      ? await callTool(tool, given, context)
      : failed(this.#unknown(name, context.workspace_id));
    return { ...outcome, duration_ms: Math.max(0, Math.round(context.clock.now() - began)) };
  }

  #look(workspace_id: string): Seen {
    const known = this.#seen.get(workspace_id);
    if (known) return known;
    const installed = [EVERYWHERE, ...(workspace_id === EVERYWHERE ? [] : [workspace_id])].flatMap(
      (place) => [...(this.#installed.get(place)?.values() ?? [])],
    );
    const tools = [...this.#loose, ...installed.flatMap((one) => one.tools)];
    const seen: Seen = {
      byName: new Map(tools.map((tool) => [tool.listed.name, tool])),
      list: tools.map(({ listed }) => listed).sort((a, b) => byCodeUnits(a.name, b.name)),
      plugins: installed.map(({ plugin }) => plugin).sort((a, b) => byCodeUnits(a.id, b.id)),
    };
    this.#seen.set(workspace_id, seen);
    return seen;
  }

  /** A tool of one workspace may not stand in the place of one that all have, nor the other way round. */
  #refuseTaken(added: readonly RegisteredTool[], workspace_id: string, replaced: string | undefined): void {
    const met = (place: string) => [EVERYWHERE, workspace_id].includes(place) || workspace_id === EVERYWHERE;
    const beside = [...this.#installed]
      .filter(([place]) => met(place))
      .flatMap(([place, plugins]) => [...plugins.values()].map((one) => ({ place, ...one })))
      .filter(({ place, plugin }) => place !== workspace_id || plugin.id !== replaced)
      .flatMap(({ tools }) => tools);
    const taken = new Set([...this.#loose, ...beside].map(({ listed }) => listed.name));
    for (const { listed } of added) {
      if (taken.has(listed.name)) throw nameTaken(listed.name);
      taken.add(listed.name);
    }
  }

  #unknown(name: string, workspace_id: string): string {
    const near = nearest(name, this.#look(workspace_id).byName.keys());
    const advice = near === undefined ? "There are no tools here." : `The nearest is ${quoted(near)}.`;
    return `There is no tool ${quoted(name)}. ${advice} Nothing was done.`;
  }
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function nameTaken(name: string) {
  return toolError(
    { kind: "tool.name_taken", name },
    `A tool ${name} is registered already. Give this one another name.`,
  );
}
