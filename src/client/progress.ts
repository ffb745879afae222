/** What is known of a workspace's notifications: enough to ask for the missed ones after a loss. */
interface Progress {
  /** The last one heard. */
  heard?: number;
  /** The state that was read: where to go on from as long as nothing was heard. */
  read?: number;
}

export type Hearing = "next" | "repeat" | "gap";

/** Follows the sequence numbers of every workspace the client works in. */
export class SequenceProgress {
  readonly #workspaces = new Map<string, Progress>();

  track(workspace_id: string): void {
    if (!this.#workspaces.has(workspace_id)) this.#workspaces.set(workspace_id, {});
  }

  forget(workspace_id: string): void {
    this.#workspaces.delete(workspace_id);
  }

  workspaces(): string[] {
    return [...this.#workspaces.keys()];
  }

  /** Undefined: it is not known what was missed. */
  resumePoint(workspace_id: string): number | undefined {
    const progress = this.#workspaces.get(workspace_id);
    return progress?.heard ?? progress?.read;
  }

  /** A state was read that holds everything up to `seq`. */
  read(workspace_id: string, seq: number): void {
    this.track(workspace_id);
    (this.#workspaces.get(workspace_id) as Progress).read = seq;
  }

  /** Everything up to `seq` was read anew, so what was heard before no longer counts. */
  restart(workspace_id: string, seq: number): void {
    this.#workspaces.set(workspace_id, { read: seq });
  }

  /** A notification came: in order, one that was heard before, or with others missing before it. */
  hear(workspace_id: string, seq: number): Hearing {
    this.track(workspace_id);
    const progress = this.#workspaces.get(workspace_id) as Progress;
    const { heard, read } = progress;
    if (heard !== undefined && seq <= heard) return "repeat";
    const last = heard ?? read;
    if (last !== undefined && seq > last + 1) return "gap";
    progress.heard = seq;
    return "next";
  }
}
