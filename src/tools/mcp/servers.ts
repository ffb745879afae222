import { type Clock, isKind, sha256, unixSeconds, VERSION } from "../../base/index.js";
import type { ToolRegistry } from "../registry.js";
import { type McpServerEntry, sameServer } from "./entry.js";
import { type McpState, ServerLink } from "./link.js";
import { hashed, serverKeys, toolNames } from "./names.js";
import { pluginOf } from "./plugin-of.js";
import { defaultTiming, type Timing } from "./timing.js";

export interface McpServersDeps {
  readonly tools: ToolRegistry;
  /** What a program that is started now sees of the environment, besides what its entry says. */
  env(): NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly timing?: Partial<Timing>;
  /** A server's state has changed. */
  told?(status: McpServerStatus): void;
}

/** A server as people see it. Nothing in it was given in confidence. */
export interface McpServerStatus {
  readonly name: string;
  /** Absent: it is there for all of them. */
  readonly workspace_id?: string;
  readonly state: McpState;
  /** How many it offers. */
  readonly tools: number;
  readonly problem?: string;
  /** Unix seconds. */
  readonly since: number;
}

/** As in the registry: for all workspaces. */
const EVERYWHERE = "";
const MOST_RENAMED = 20;
const FIRST_TRY_MS = 5_000;

/** Servers of one configuration. */
interface Place {
  readonly servers: Readonly<Record<string, McpServerEntry>>;
  readonly directory: string;
  /** Of those that are on. */
  keys: ReadonlyMap<string, string>;
  readonly links: Map<string, ServerLink>;
  /** Since when what is not linked is as it is. */
  readonly since: number;
  /** What is registered, by server: the same again is not registered again. */
  readonly offered: Map<string, string>;
}

/** The MCP servers there are. Each is a plugin of the registry as soon as its tools are known, and stays one while it is away. */
export class McpServers {
  readonly #deps: McpServersDeps;
  readonly #places = new Map<string, Place>();
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(deps: McpServersDeps) {
    this.#deps = deps;
  }

  /**
   * Brings the servers of one workspace, or those that all workspaces have, to a configuration. Servers whose entries stay
   * the same keep their connections. Programs start in the directory, unless their entry names another. Nothing is waited for.
   */
  set(
    servers: Readonly<Record<string, McpServerEntry>>,
    workspace_id: string = EVERYWHERE,
    directory = ".",
  ): void {
    if (this.#isClosed) return;
    const before = this.#places.get(workspace_id);
    const since = unixSeconds(this.#deps.clock);
    const place: Place = {
      servers: { ...servers },
      directory,
      since,
      keys: new Map(),
      links: before?.links ?? new Map(),
      offered: before?.offered ?? new Map(),
    };
    this.#places.set(workspace_id, place);
    for (const [where, one] of this.#inOrder()) this.#arrange(where, one);
    if (workspace_id !== EVERYWHERE && Object.keys(servers).length === 0) this.#places.delete(workspace_id);
  }

  /** By name; those of all workspaces first. */
  status(): McpServerStatus[] {
    return this.#inOrder().flatMap(([where, { servers }]) =>
      Object.keys(servers)
        .sort()
        .map((name) => this.#statusOf(where, name)),
    );
  }

  /** Settles when every server was tried once, or the time is up: for those who come once and ask at once. */
  async tried(withinMs = FIRST_TRY_MS): Promise<void> {
    const links = [...this.#places.values()].flatMap(({ links }) => [...links.values()]);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([Promise.all(links.map((link) => link.tried())), late]);
    clearTimeout(timer);
  }

  /** Ends every program and connection. Their tools stay listed, for runs that are ending too, and fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { links } of this.#places.values()) for (const link of links.values()) this.#end(link);
    await Promise.all(this.#closing);
  }

  #inOrder(): [string, Place][] {
    return [...this.#places].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #arrange(where: string, place: Place): void {
    const common = this.#places.get(EVERYWHERE);
    const wanted = Object.keys(place.servers).filter((name) => this.#isWanted(where, place, name));
    place.keys = serverKeys(wanted, where === EVERYWHERE ? [] : [...(common?.keys.values() ?? [])]);
    for (const [name, link] of place.links) {
      const entry = place.servers[name];
      const isKept =
        entry && wanted.includes(name) && sameServer(link.entry, entry) && link.directory === place.directory;
      if (!isKept) this.#remove(where, place, link);
    }
    for (const name of wanted) if (!place.links.has(name)) this.#link(where, place, name);
    for (const link of place.links.values()) this.#offer(where, link);
  }

  #isWanted(where: string, { servers }: Place, name: string): boolean {
    return servers[name]?.enabled !== false && !this.#isShadowed(where, name);
  }

  /** One workspace may not put a server of its own in the place of one that all have. */
  #isShadowed(where: string, name: string): boolean {
    return where !== EVERYWHERE && Object.hasOwn(this.#places.get(EVERYWHERE)?.servers ?? {}, name);
  }

  #link(where: string, place: Place, name: string): void {
    const { clock, timing } = this.#deps;
    const link = new ServerLink({
      name,
      entry: place.servers[name] as McpServerEntry,
      directory: place.directory,
      env: this.#deps.env(),
      clock,
      version: VERSION,
      timing: { ...defaultTiming, ...timing },
      offer: (one) => this.#offer(where, one),
      told: (one) => this.#tell(where, one),
    });
    place.links.set(name, link);
    link.begin();
  }

  #remove(where: string, place: Place, link: ServerLink): void {
    place.links.delete(link.name);
    if (place.offered.delete(link.name))
      this.#deps.tools.removePlugin(pluginId(link.name), registryPlace(where));
    this.#end(link);
  }

  #end(link: ServerLink): void {
    const closing = link.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Registers what a server offers, under names that nobody else has. */
  #offer(where: string, link: ServerLink): void {
    const place = this.#places.get(where);
    if (this.#isClosed || place?.links.get(link.name) !== link) return;
    const key = place.keys.get(link.name) as string;
    const names = toolNames({ server: link.name, key }, namesOf(link), this.#otherKeys(where, key));
    const shape = sha256(JSON.stringify([...names, link.tools]).toWellFormed());
    if (place.offered.get(link.name) === shape) return;
    if (link.tools.length === 0 && !place.offered.has(link.name)) return;
    try {
      this.#register(where, link, names);
      place.offered.set(link.name, shape);
    } catch (error) {
      link.complain(`offers tools that can't be registered: ${(error as Error).message}`);
    }
  }

  #register(where: string, link: ServerLink, names: Map<string, string>): void {
    for (let renamed = 0; ; renamed++) {
      try {
        const plugin = pluginOf(link, pluginId(link.name), names);
        this.#deps.tools.setPlugin(plugin, registryPlace(where));
        return;
      } catch (error) {
        const taken = isKind(error, "tool.name_taken") ? String(error.data.name) : undefined;
        const tool = [...names].find(([, name]) => name === taken)?.[0];
        if (tool === undefined || renamed === MOST_RENAMED) throw error;
        names.set(tool, hashed(String(taken), link.name, tool));
      }
    }
  }

  #otherKeys(where: string, key: string): string[] {
    const places = new Set([EVERYWHERE, where]);
    return [...places]
      .flatMap((one) => [...(this.#places.get(one)?.keys.values() ?? [])])
      .filter((other) => other !== key);
  }

  #tell(where: string, link: ServerLink): void {
    if (!this.#isClosed && this.#places.get(where)?.links.get(link.name) === link) {
      this.#deps.told?.(this.#statusOf(where, link.name));
    }
  }

  #statusOf(where: string, name: string): McpServerStatus {
    const { links, since } = this.#places.get(where) as Place;
    const workspace = where === EVERYWHERE ? {} : { workspace_id: where };
    const link = links.get(name);
    if (link) return { ...link.status(), ...workspace };
    if (!this.#isShadowed(where, name)) return { name, state: "off", tools: 0, since, ...workspace };
    const problem = "has the name of a server that all workspaces have: give it another";
    return { name, state: "failed", tools: 0, problem, since, ...workspace };
  }
}

function namesOf({ tools }: ServerLink): string[] {
  return tools.map(({ name }) => name);
}

function pluginId(server: string): string {
  return `mcp-${server}`;
}

function registryPlace(where: string): string | undefined {
  return where === EVERYWHERE ? undefined : where;
}
