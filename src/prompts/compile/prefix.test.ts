import { describe, expect, test } from "vitest";
import type { CompileInputs, FrozenConfig, SectionInput } from "./inputs.js";
import { COMPILER_VERSION, compilePrefix } from "./prefix.js";

const ref = (name: string) => `sha256:${name}`;

const config = (more: Partial<FrozenConfig> = {}): FrozenConfig => ({
  agent_id: "general",
  agent_name: "General",
  provider: "openai",
  model: "gpt-5",
  options: {},
  params: {},
  window: 10_000,
  prompt: { source: "agent", refs: [ref("base")] },
  ...more,
});

const section = (section_id: string, more: Partial<SectionInput> = {}): SectionInput => ({
  section_id,
  title: `Title of ${section_id}`,
  ref: ref(section_id),
  chars: 10,
  tokens: 3,
  truncation: "none",
  hook_id: `${section_id}.hook`,
  package_id: `${section_id}.package`,
  subscription_id: `${section_id}.hook@turn.pre_prompt_compile`,
  contribution_id: `${section_id}#1`,
  priority: 10,
  visibility: "internal",
  source_refs: [],
  ...more,
});

const inputs = (more: Partial<CompileInputs> = {}): CompileInputs => ({
  compiler_version: COMPILER_VERSION,
  config: ref("config"),
  base: [{ ref: ref("base"), chars: 5, tokens: 2 }],
  sections: [],
  tools: [],
  tools_tokens: 0,
  ...more,
});

describe("what stands before the history", () => {
  test("[TLD140] base prompt, then sections, in the order given; sums are theirs and the tools'", () => {
    const given = inputs({
      base: [
        { ref: ref("one"), chars: 5, tokens: 2 },
        { ref: ref("two"), chars: 6, tokens: 3 },
      ],
      sections: [section("agents_md"), section("tools", { truncation: "hook" })],
      tools_tokens: 100,
    });
    const prefix = compilePrefix(config(), given);
    expect(prefix.refs).toEqual([ref("one"), ref("two"), ref("agents_md"), ref("tools")]);
    expect(prefix.sections.map(({ id }) => id)).toEqual(["base", "base.2", "agents_md", "tools"]);
    expect(prefix).toMatchObject({ chars: 31, tokens: 111, context: 10_000 });
    expect(prefix.sections.map(({ truncation }) => truncation)).toEqual(["none", "none", "none", "hook"]);
    expect(compilePrefix(structuredClone(config()), structuredClone(given))).toEqual(prefix);
  });

  test("[TLD141] each section says where it comes from; base prompts by their source", () => {
    const pack = {
      workspace: "ws",
      root_hash: ref("root"),
      prompt_pack: "default",
      prompt_pack_ref: ref("base"),
      taken_at: 1,
    };
    const sourceOf = (prompt: FrozenConfig["prompt"]) =>
      compilePrefix(config({ prompt }), inputs()).sections[0]?.source;
    const refs = [ref("base")];
    const base = { ref: ref("base") };
    expect(sourceOf({ source: "run_refs", refs })).toEqual({ kind: "run_refs", ...base });
    expect(sourceOf({ source: "thread_refs", refs })).toEqual({ kind: "thread_refs", ...base });
    expect(sourceOf({ source: "default", refs })).toEqual({ kind: "default", ...base });
    const agent = { kind: "agent", agent_id: "general", ...base };
    expect(sourceOf({ source: "agent", refs })).toEqual({ ...agent, generated: false });
    expect(sourceOf({ source: "agent_default", refs })).toEqual({ ...agent, generated: true });
    expect(sourceOf({ source: "prompt_pack", refs, pack })).toMatchObject({
      kind: "prompt_pack",
      pack: "default",
      root_hash: ref("root"),
    });
    const documents = [{ kind: "document", id: "agd_1", version: 3 }];
    const prefix = compilePrefix(
      config(),
      inputs({ sections: [section("agents_md", { source_refs: documents })] }),
    );
    expect(prefix.sections[1]?.source).toMatchObject({ kind: "hook", hook_id: "agents_md.hook", documents });
    expect(prefix.hook_sources).toMatchObject([
      { section_id: "agents_md", source_count: 1, contribution_kind: "prompt_section" },
    ]);
  });

  test("[TLD142] room for the answer: what is asked for, else 4,096 tokens, never more than half of the window", () => {
    const reserved = (max_tokens: number | undefined, window: number) =>
      compilePrefix(config({ window, params: max_tokens === undefined ? {} : { max_tokens } }), inputs())
        .reserved;
    expect(reserved(undefined, 100_000)).toBe(4_096);
    expect(reserved(undefined, 1_001)).toBe(500);
    expect(reserved(700, 100_000)).toBe(700);
    expect(reserved(90_000, 100_000)).toBe(50_000);
  });

  test("[TLD143] the fingerprint changes with what a server's cache goes by, and with nothing else", () => {
    const of = (more: Partial<FrozenConfig>, given: Partial<CompileInputs> = {}) =>
      compilePrefix(config(more), inputs(given)).stable_prefix_hash;
    const hashes = [
      of({}),
      of({ model: "gpt-6" }),
      of({ provider: "openai-compatible" }),
      of({ params: { reasoning_effort: "low" } }),
      of({}, { tools_ref: ref("tools") }),
      of({}, { sections: [section("agents_md")] }),
      of({}, { sections: [section("agents_md", { ref: ref("other") })] }),
      of({}, { base: [{ ref: ref("other"), chars: 5, tokens: 2 }] }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    const same = section("agents_md", {
      source_refs: [{ kind: "document", id: "d", version: 9 }],
      priority: 7,
    });
    expect(of({}, { sections: [same] })).toBe(hashes[5]);
    expect(of({ window: 5, options: { baseURL: "http://x" }, agent_name: "B" })).toBe(hashes[0]);
  });

  test("[TLD144] tools are named with their reason, and what was shadowed with what by", () => {
    const shadowed = [{ source: "prompt_pack", by: "run_refs", name: "default" }];
    const tools = [
      { name: "a", offered: true },
      { name: "b", offered: false, reason: "in the agent's toolDenylist" },
    ];
    const prompt = { source: "run_refs" as const, refs: [ref("base")], shadowed };
    expect(compilePrefix(config({ prompt }), inputs({ tools }))).toMatchObject({ tools, shadowed });
    const none = compilePrefix(config({ prompt: { ...prompt, shadowed: [] } }), inputs());
    expect(none).not.toHaveProperty("shadowed");
    expect(none).not.toHaveProperty("tools_ref");
  });
});
