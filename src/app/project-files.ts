import { join } from "node:path";
import type { Agents, HeddleConfig } from "../agents/index.js";
import { type Clock, HeddleError, sha256, Turns } from "../base/index.js";
import type { Log } from "../gateway/index.js";
import { type Store, trust, workspaces } from "../store/index.js";
import type { ProjectFiles } from "../threads/index.js";
import { readBytes } from "./config-file.js";
import { NO_FILE, restedAt, stampOf } from "./file-stamp.js";
import {
  PROJECT_FILES,
  type ProjectFileKind,
  type ReadProjectFile,
  readProjectFile,
} from "./project-file.js";

type McpServers = ReturnType<HeddleConfig["mcpServers"]["open"]>;

export interface ProjectParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly agents: Agents;
  readonly log: Log;
  /** Told at once when others count: none, as soon as what named them is not trusted any more. */
  useServers(workspace_id: string, servers: McpServers, directory: string): void;
  /** Told when what a workspace's project says counts from now on, or does not any more. */
  changed(workspace_id: string): void;
}

/** A file of a project in which something was trusted, as it was when it was looked at. */
interface Watched {
  readonly kind: ProjectFileKind;
  readonly path: string;
  stamp: string;
  /** A stamp of a file that had just been changed does not tell it from what it is changed to next. */
  certain: boolean;
  /** What is in use; undefined when this file is not trusted as it stands. */
  readonly used: ReadProjectFile | undefined;
  /** The variables it was filled with when it was used last: whoever edits a file must not learn by that what it was given. */
  readonly filledWith: readonly string[];
}

interface WatchedProject {
  readonly root: string;
  readonly files: readonly Watched[];
}

/** One that nobody uses is looked at once in so many times: whoever uses it has it looked at first. */
const IDLE_LOOKS = 20;
const IDLE_MS = 10_000;

const KINDS = Object.keys(PROJECT_FILES) as ProjectFileKind[];

/**
 * What projects' own files say, used for their workspaces as long as the user trusts exactly what stands there. Whoever
 * asks for the agents of a workspace has its files looked at first: nothing is used that was changed a moment ago.
 */
export class ProjectConfigs implements ProjectFiles {
  readonly #parts: ProjectParts;
  /** The workspaces in which something was trusted; the others have nothing that could be used. */
  readonly #watched = new Map<string, WatchedProject>();
  readonly #turns = new Turns();
  /** When each was last asked for, by a clock that nobody sets. */
  readonly #usedAt = new Map<string, number>();
  #looks = 0;

  constructor(parts: ProjectParts) {
    this.#parts = parts;
    parts.agents.beforeUse = (workspace_id) => {
      if (this.#watched.has(workspace_id)) this.#usedAt.set(workspace_id, performance.now());
      this.#check(workspace_id);
    };
  }

  read(root: string): ReturnType<ProjectFiles["read"]> {
    const found = KINDS.map((kind) => this.#attempt(root, kind));
    return {
      files: found.flatMap(({ file }) => (file ? [file] : [])),
      warnings: found.flatMap(({ file, warning }) => file?.warnings ?? warning ?? []),
    };
  }

  /** Of every workspace in which something was trusted: before anyone can ask for anything. */
  async begin(): Promise<void> {
    const ids = await this.#parts.store.read(() => trust.workspacesWithTrust(KINDS));
    for (const id of ids) await this.refresh(id);
  }

  refresh(workspace_id: string): Promise<void> {
    return this.#turns.run(workspace_id, () => this.#refresh(workspace_id));
  }

  /** The environment variables that trusted projects were filled with, until trust is taken back. */
  get variables(): readonly string[] {
    return [...this.#watched.values()].flatMap(({ files }) => files.flatMap(({ filledWith }) => filledWith));
  }

  /** Looks at the files of the workspaces that are in use, and at some of the others in turn. */
  look(): void {
    const turn = this.#looks++ % IDLE_LOOKS;
    for (const [at, workspace_id] of [...this.#watched.keys()].entries()) {
      if (at % IDLE_LOOKS === turn || this.#isInUse(workspace_id)) this.#check(workspace_id);
    }
  }

  #isInUse(workspace_id: string): boolean {
    const usedAt = this.#usedAt.get(workspace_id);
    return usedAt !== undefined && performance.now() - usedAt < IDLE_MS;
  }

  async #refresh(workspace_id: string): Promise<void> {
    const { store } = this.#parts;
    const row = await store.read(() => workspaces.findWorkspace(workspace_id));
    const root = row?.root_path ?? undefined;
    const known = await store.read(function* () {
      const kinds = new Set<ProjectFileKind>();
      for (const kind of KINDS) if (yield* trust.wasTrusted(workspace_id, kind)) kinds.add(kind);
      return kinds;
    });
    if (root === undefined || known.size === 0) return this.#use(workspace_id, undefined);
    const files: Watched[] = [];
    for (const kind of KINDS) {
      const file = await this.#watch(workspace_id, root, kind);
      const before = this.#watched.get(workspace_id)?.files.find(({ path }) => path === file.path);
      const isLeft = file.used === undefined && known.has(kind);
      files.push(isLeft ? { ...file, filledWith: before?.filledWith ?? [] } : file);
    }
    this.#use(workspace_id, { root, files });
  }

  /** The stamp is taken first: what changes while the file is read is seen as a change later. */
  async #watch(workspace_id: string, root: string, kind: ProjectFileKind): Promise<Watched> {
    const path = join(root, PROJECT_FILES[kind]);
    const stamp = stampOf(path);
    const certain = stamp === NO_FILE || restedAt(path, this.#parts.clock.now());
    const { file } = this.#attempt(root, kind);
    const trusted =
      file && (await this.#parts.store.read(() => trust.isTrusted(workspace_id, kind, [file.sha256])));
    const used = trusted ? file : undefined;
    return { kind, path, stamp, certain, used, filledWith: used?.config.variables ?? [] };
  }

  #attempt(root: string, kind: ProjectFileKind): { file?: ReadProjectFile; warning?: string } {
    try {
      const file = readProjectFile(root, kind, this.#parts.env);
      return file ? { file } : {};
    } catch (error) {
      if (!(error instanceof HeddleError))
        this.#parts.log.warn({ err: error }, "a project's file can't be read");
      return { warning: error instanceof Error ? error.message : String(error) };
    }
  }

  /** Nothing of a file that is another now counts any more, from this moment on; what it says now is looked at later. */
  #check(workspace_id: string): void {
    const project = this.#watched.get(workspace_id);
    if (!project) return;
    const changed = project.files.filter((file) => !this.#isSame(file));
    if (changed.length === 0) return;
    const files = project.files.map((file) =>
      changed.includes(file) ? { ...file, stamp: stampOf(file.path), used: undefined } : file,
    );
    if (changed.some(({ used }) => used)) this.#use(workspace_id, { ...project, files });
    else this.#watched.set(workspace_id, { ...project, files });
    this.refresh(workspace_id).catch((error) =>
      this.#parts.log.warn({ err: error, workspace_id }, "a project's files could not be looked at"),
    );
  }

  #isSame(file: Watched): boolean {
    const stamp = stampOf(file.path);
    if (stamp === file.stamp && file.certain) return true;
    const certain = stamp === NO_FILE || restedAt(file.path, this.#parts.clock.now());
    // What is not used need not be read each time: once more, when its stamp can be relied on.
    if (file.used === undefined) return stamp === file.stamp && !certain;
    if (hashOf(file.path) !== file.used.bytesSha256) return false;
    file.stamp = stamp;
    file.certain = certain;
    return true;
  }

  /** All that depends on it changes at once. */
  #use(workspace_id: string, project: WatchedProject | undefined): void {
    const before = this.#watched.get(workspace_id);
    if (project) this.#watched.set(workspace_id, project);
    else {
      this.#watched.delete(workspace_id);
      this.#usedAt.delete(workspace_id);
    }
    if (fingerprint(before) === fingerprint(project)) return;
    const used = (kind: ProjectFileKind) => project?.files.find((file) => file.kind === kind)?.used?.config;
    const config = used("config");
    this.#parts.agents.setProject(workspace_id, config);
    const servers = { ...used("mcp")?.mcpServers.open(), ...config?.mcpServers.open() };
    this.#parts.useServers(workspace_id, servers, project?.root ?? before?.root ?? "");
    this.#parts.changed(workspace_id);
  }
}

function fingerprint(project: WatchedProject | undefined): string {
  const used =
    project?.files.flatMap((file) => (file.used ? [`${file.path} ${file.used.sha256}`] : [])) ?? [];
  const filledWith = project?.files.flatMap((file) => file.filledWith) ?? [];
  return [...used, ...filledWith].join("\n");
}

/** Undefined when it can't be read, for whatever reason. */
function hashOf(path: string): string | undefined {
  try {
    return sha256(readBytes(path).bytes);
  } catch {
    return undefined;
  }
}
