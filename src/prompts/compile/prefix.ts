import { canonicalJson, sha256 } from "../../base/index.js";
import type { Manifest } from "../../protocol/index.js";
import type { BaseSource, CompileInputs, FrozenConfig, SectionInput } from "./inputs.js";

/** A compiler that gives other bytes for the same inputs has another version. */
export const COMPILER_VERSION = "1";

/** What stands before the history: the same from one run of a thread to the next, as long as nothing of it changes. */
export interface Prefix {
  readonly compiler_version: string;
  readonly agent_id: string;
  readonly provider: string;
  readonly model: string;
  readonly params: FrozenConfig["params"];
  /** Base prompt, then one for each section. */
  readonly refs: readonly string[];
  readonly sections: Manifest["sections"];
  readonly hook_sources: Manifest["hook_sources"];
  readonly tools: Manifest["tools"];
  readonly tools_ref?: string;
  readonly shadowed?: Manifest["shadowed"];
  readonly chars: number;
  readonly tokens: number;
  readonly context: number;
  readonly reserved: number;
  readonly stable_prefix_hash: string;
}

/** How much is kept free for the answer when nobody says. */
const RESERVED = 4_096;

/** Pure: the same inputs give the same prefix, byte for byte. */
export function compilePrefix(config: FrozenConfig, inputs: CompileInputs): Prefix {
  const { base, sections, tools, tools_ref, tools_tokens } = inputs;
  const refs = [...base, ...sections].map(({ ref }) => ref);
  const sum = (key: "chars" | "tokens") => [...base, ...sections].reduce((all, one) => all + one[key], 0);
  const { agent_id, provider, model, params, window } = config;
  const { shadowed } = config.prompt;
  return {
    compiler_version: inputs.compiler_version,
    agent_id,
    provider,
    model,
    params,
    refs,
    sections: [...base.map((one, at) => baseSection(config, one, at)), ...sections.map(hookSection)],
    hook_sources: sections.map(hookSource),
    tools: tools.map(({ name, offered, reason, approval }) => ({
      name,
      offered,
      ...(reason && { reason }),
      ...(approval && { approval }),
    })),
    ...(tools_ref && { tools_ref }),
    ...(shadowed && shadowed.length > 0 && { shadowed: [...shadowed] as NonNullable<Manifest["shadowed"]> }),
    chars: sum("chars"),
    tokens: sum("tokens") + tools_tokens,
    context: window,
    reserved: Math.min(params.max_tokens ?? RESERVED, Math.floor(window / 2)),
    stable_prefix_hash: sha256(canonicalJson({ provider, model, params, tools: tools_ref, refs })),
  };
}

type ManifestSection = Manifest["sections"][number];

const titles: Record<BaseSource, string> = {
  run_refs: "Base prompt of the run",
  thread_refs: "Base prompt of the thread",
  prompt_pack: "Prompt pack",
  agent: "System prompt of the agent",
  agent_default: "System prompt of the agent",
  default: "Heddle's default prompt",
};

function baseSection(
  { prompt, agent_id }: FrozenConfig,
  { ref, chars, tokens }: CompileInputs["base"][number],
  at: number,
): ManifestSection {
  const { source, pack } = prompt;
  const kind = source === "agent_default" ? "agent" : source;
  return {
    id: at === 0 ? "base" : `base.${at + 1}`,
    title: titles[source],
    source: {
      kind,
      ref,
      ...(kind === "agent" && { agent_id, generated: source === "agent_default" }),
      ...(pack && { pack: pack.prompt_pack, root_hash: pack.root_hash, version: pack.version }),
    },
    chars,
    tokens_estimate: tokens,
    truncation: "none",
  };
}

function hookSection(section: SectionInput): ManifestSection {
  const { section_id, title, ref, chars, tokens, truncation } = section;
  const { hook_id, package_id, subscription_id, contribution_id, source_refs, cut_ref } = section;
  return {
    id: section_id,
    title,
    source: {
      kind: "hook",
      ref,
      hook_id,
      package_id,
      subscription_id,
      contribution_id,
      ...(source_refs.length > 0 && { documents: source_refs }),
      ...(cut_ref !== undefined && { cut_ref }),
    },
    chars,
    tokens_estimate: tokens,
    truncation,
  };
}

function hookSource(section: SectionInput): Manifest["hook_sources"][number] {
  const { hook_id, package_id, subscription_id, contribution_id, section_id, priority, truncation } = section;
  return {
    hook_id,
    package_id,
    subscription_id,
    contribution_id,
    section_id,
    contribution_kind: "prompt_section",
    priority,
    source_count: section.source_refs.length,
    truncation,
  };
}
