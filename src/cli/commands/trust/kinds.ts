import type { TrustState } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { configLines } from "./config-text.js";
import { hooksLines } from "./hooks-text.js";

export type TrustOptions = WorkspaceOptions & {
  readonly yes?: boolean;
  readonly revoke?: boolean;
  readonly kind?: "hooks" | "config" | "mcp";
};

type Kind = TrustState["kind"];

interface Words {
  readonly title: string;
  readonly trusted: string;
  readonly untrusted: string;
  readonly done: string;
  lines(content: string, project: string | undefined): string[];
}

/** How each kind is told, in this order. */
export const kinds: Readonly<Record<Kind, Words>> = {
  worktree_hooks: {
    title: "Worktree hooks",
    trusted: "They are trusted.",
    untrusted: "They are not trusted: worktrees are made without them.",
    done: "Trusted: they run whenever a thread of this project gets a worktree.",
    lines: hooksLines,
  },
  config: {
    title: "heddle.config.json",
    trusted: "It is trusted.",
    untrusted: "It is not trusted: nothing of it is used.",
    done: "Trusted: its agents and servers are there for this project's threads.",
    lines: configLines,
  },
  mcp: {
    title: ".mcp.json",
    trusted: "It is trusted.",
    untrusted: "It is not trusted: none of its servers is used.",
    done: "Trusted: its servers are there for this project's threads.",
    lines: configLines,
  },
};

/** The kinds that `--kind` leaves. */
export function chosenKinds({ kind }: TrustOptions): readonly Kind[] {
  if (kind === undefined) return Object.keys(kinds) as Kind[];
  return [kind === "hooks" ? "worktree_hooks" : kind];
}
