import { describe, expect, test } from "vitest";
import {
  AgentSet,
  knownProgram,
  modelFor,
  type ProgramStart,
  type ProgramsHere,
} from "../../src/agents/index.js";
import { methods } from "../../src/protocol/index.js";
import { knownAgent } from "../../src/providers/programs/acp/known.js";
import { load, refusal } from "./support.js";

/** A machine with these programs, and who is signed in to them. */
class Machine implements ProgramsHere {
  readonly there = new Set<string>();
  readonly versions = new Map<string, string>();
  readonly signedIn = new Map<string, boolean>();
  readonly asked: ProgramStart[] = [];

  constructor(...commands: string[]) {
    for (const command of commands) this.there.add(command);
  }

  isThere(start: ProgramStart) {
    this.asked.push(start);
    return this.there.has(start.command);
  }
  versionOf({ command }: ProgramStart) {
    return this.versions.get(command);
  }
  isSignedIn({ command }: ProgramStart) {
    return this.signedIn.get(command);
  }
}

function setOf(agents: readonly object[], programs: ProgramsHere = new Machine()): AgentSet {
  return new AgentSet({ config: load({ agents }).config, env: {}, programs });
}

const claude = { agentId: "c", chat: { provider: "claude-cli" } };
const demo = { agentId: "demo", chat: { provider: "demo" } };

describe("programs as agents", () => {
  test("[PDT2] the program chooses its model, unless one is named", () => {
    const set = setOf(
      [
        claude,
        { agentId: "named", chat: { provider: "codex-cli", model: "gpt-6.1-sol" } },
        { agentId: "wide", chat: { provider: "pi-cli", contextWindow: 50_000 } },
      ],
      new Machine("claude", "codex", "pi"),
    );
    expect(set.list()[0]).toMatchObject({ provider: "claude-cli", model: "default", available: true });
    expect(modelFor(set.require("c"), {})).toEqual({
      provider: "claude-cli",
      model: "default",
      options: {},
      params: {},
      window: 200_000,
    });
    expect(modelFor(set.require("c"), { model: "opus" })).toMatchObject({ model: "opus", window: 200_000 });
    expect(modelFor(set.require("named"), {})).toMatchObject({ model: "gpt-6.1-sol", window: 1_050_000 });
    expect(modelFor(set.require("wide"), {}).window).toBe(50_000);
  });

  test("[PDT3] one that is not there is not available, and says where to set it; once it is there it can be asked", () => {
    const machine = new Machine();
    const set = setOf(
      [claude, { agentId: "p", chat: { provider: "pi-cli", config: { command: "/opt/pi" } } }, demo],
      machine,
    );
    expect(set.list().map(({ available, reason }) => [available, reason])).toEqual([
      [
        false,
        "The program claude is not on the PATH: install it, or set `chat.config.command` to where it is.",
      ],
      [
        false,
        "The program /opt/pi is not there, or can't be executed: install it, or set `chat.config.command` to where it is.",
      ],
      [true, undefined],
    ]);
    expect(set.list()[0]).not.toHaveProperty("signed_in");
    expect(refusal(() => modelFor(set.require("c"), {}))).toMatchObject({ kind: "agent.unavailable" });
    expect(refusal(() => modelFor(set.require("demo"), { provider: "claude-cli" })).kind).toBe(
      "agent.unavailable",
    );
    machine.there.add("claude");
    expect(set.list()[0]).toMatchObject({ available: true });
    expect(modelFor(set.require("demo"), { provider: "claude-cli" })).toMatchObject({ model: "default" });
  });

  test("[PDT3] what it is looked for with is what it is started with", () => {
    const machine = new Machine("/opt/gemini");
    const config = { command: "/opt/gemini", args: ["--acp"], env: { PATH: "/opt", KEY: "k" } };
    setOf([{ agentId: "g", chat: { provider: "acp", config } }], machine).list();
    expect(machine.asked[0]).toEqual({ provider: "acp", known: "gemini", ...config });
  });

  test("[PDT4] a command beside the file is found there, and stands in a choice with its arguments", () => {
    const config = { command: "./bin/agent", args: ["serve"], env: { KEY: "hidden" } };
    const set = setOf(
      [{ agentId: "a", chat: { provider: "acp", config } }],
      new Machine("/etc/heddle/bin/agent"),
    );
    const choice = modelFor(set.require("a"), {});
    expect(choice.options).toEqual({ command: "/etc/heddle/bin/agent", args: ["serve"] });
    expect(JSON.stringify([choice, set.list()])).not.toContain("hidden");
  });

  test.each<[entry: object, available: boolean]>([
    [{}, true],
    [{ toolAllowlist: ["files_*"] }, false],
    [{ toolAllowlist: [] }, false],
    [{ toolDenylist: ["bash"] }, false],
    [{ capabilityAllowlist: ["files.*"] }, false],
    [{ capabilityDenylist: ["files.write"] }, false],
    [{ agentDenylist: ["x"] }, true],
    [{ toolAllowlist: ["files_*"], ownTools: true }, true],
  ])("[PDT5] an ACP program that nobody knows, with %j", (entry, available) => {
    const commands = ["agent", "/opt/gemini", "opencode"];
    const agents = commands.map((command) => ({
      agentId: command.replaceAll("/", ""),
      ...entry,
      chat: { provider: "acp", config: { command, args: ["acp"] } },
    }));
    const listed = setOf(agents, new Machine(...commands)).list();
    expect(listed.map((agent) => agent.available)).toEqual([available, true, true]);
    const packaged = { command: "npx", args: ["-y", "@google/gemini-cli@0.61.0", "--acp"] };
    const [runner] = setOf(
      [{ agentId: "n", ...entry, chat: { provider: "acp", config: packaged } }],
      new Machine("npx"),
    ).list();
    expect(runner?.available).toBe(true);
    if (!available) expect(listed[0]?.reason).toContain('"ownTools": true');
  });

  test("[PDT5] which ACP programs are known is the same here and where they are started", () => {
    const starts: [command: string, ...args: string[]][] = [
      ["gemini", "--acp"],
      ["/opt/bin/gemini.cmd"],
      ["node", "gemini.js"],
      ["npx", "@google/gemini-cli", "--acp"],
      ["opencode", "acp"],
      ["bunx", "opencode-ai@1.18.33", "acp"],
      ["agent", "--like", "gemini-pro"],
      ["my-opencode"],
      ["claude"],
    ];
    for (const [command, ...args] of starts) {
      const isKnown = knownAgent({ command, args }).name !== undefined;
      expect(knownProgram("acp", { command, args }) !== undefined, command).toBe(isKnown);
    }
  });

  test("[PDT22] one that nobody is signed in to is available, and says what to do", () => {
    const machine = new Machine("claude", "codex", "unknown");
    machine.versions.set("claude", "2.1.325");
    machine.signedIn.set("claude", false).set("codex", true);
    const set = setOf(
      [
        claude,
        { agentId: "x", chat: { provider: "codex-cli" } },
        { agentId: "u", chat: { provider: "acp", config: { command: "unknown" } } },
      ],
      machine,
    );
    const [signedOut, signedIn, unknown] = set.list();
    expect(signedOut).toMatchObject({
      available: true,
      version: "2.1.325",
      signed_in: false,
      reason: expect.stringMatching(/^Not signed in: run `claude` once and sign in/),
    });
    expect(signedIn).toMatchObject({ available: true, signed_in: true });
    expect(signedIn).not.toHaveProperty("reason");
    for (const absent of ["signed_in", "version", "reason"]) expect(unknown).not.toHaveProperty(absent);
    expect(methods["agent/list"].result.parse({ data: set.list() })).toEqual({ data: set.list() });
    expect(modelFor(set.require("c"), {}).provider).toBe("claude-cli");
  });

  test("[PDT6] nobody falls back to a program that wants a sign-in while another can answer", () => {
    const machine = new Machine("claude", "codex");
    const codex = { agentId: "x", chat: { provider: "codex-cli" } };
    expect(setOf([claude, codex], machine).fallback).toBe("c");
    machine.signedIn.set("claude", false);
    const set = setOf([claude, codex], machine);
    expect(set.fallback).toBe("x");
    const before = set.standing();
    machine.signedIn.set("codex", false);
    expect(set.standing()).not.toBe(before);
    expect(setOf([claude, codex], machine).fallback).toBe("c");
    expect(setOf([claude, codex, demo], machine).fallback).toBe("demo");
    machine.there.delete("claude");
    expect(setOf([claude, codex], machine).fallback).toBe("x");
  });
});
