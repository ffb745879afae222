/** The kinds of attacks, and where those of each are. What a file of another suite attacks counts here too. */
export const kinds = {
  "cross-site": [
    "test/attack/cross-site.test.ts",
    "test/attack/browser.test.ts",
    "test/e2e/auth.test.ts",
    "test/e2e/auth-session.test.ts",
    "test/e2e/http.test.ts",
  ],
  rebinding: ["test/attack/rebinding.test.ts", "src/gateway/http/origin.test.ts"],
  paths: [
    "test/attack/paths.test.ts",
    "test/attack/path-params.test.ts",
    "test/tools/files-confined.test.ts",
    "test/atsf/archive-refusals.test.ts",
    "test/e2e/page-files.test.ts",
  ],
  links: [
    "test/attack/links.test.ts",
    "test/atsf/import-directory.test.ts",
    "test/atsf/guarded-reads.test.ts",
    "test/e2e/threads-hostile-files.test.ts",
    "test/e2e/cli-files.test.ts",
    "src/tools/files/open.test.ts",
  ],
  scope: [
    "test/attack/model-calls.test.ts",
    "test/attack/tokens.test.ts",
    "test/attack/commands.test.ts",
    "test/attack/delegation.test.ts",
    "test/attack/granting.test.ts",
    "test/attack/configuration.test.ts",
    "test/e2e/scoped-tokens.test.ts",
    "test/e2e/mcp-server-bridge.test.ts",
  ],
  markdown: ["test/page/hostile.test.ts"],
  "prompt sections": [
    "test/attack/prompt.test.ts",
    "test/attack/sections.test.ts",
    "test/sections/agents-doc.test.ts",
    "test/page/artifacts-context-line.test.ts",
  ],
  secrets: ["test/attack/secrets.test.ts", "test/e2e/serve-logs.test.ts", "test/atsf/secrets.test.ts"],
  oversized: [
    "test/attack/oversized.test.ts",
    "test/e2e/limits.test.ts",
    "test/e2e/limits-review.test.ts",
    "test/e2e/rpc-malformed.test.ts",
    "test/e2e/fuzz.test.ts",
  ],
  slow: ["test/attack/slow.test.ts", "test/e2e/slow-client.test.ts"],
} as const satisfies Record<string, readonly string[]>;

export type Kind = keyof typeof kinds;
