import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { changeConfig, openProject, type Project, readConfig } from "../../src/atsf/index.js";
import { foreign, just, type Layout, listOf, type Model, mixed, raw, render, set } from "./json-model.js";
import { freshProject, textMessage } from "./support.js";

const CREATED = "2026-01-01T00:00:00.000Z";

const layout = fc.constantFrom<Layout>("", "  ", "    ", "\t");
const version = fc.constantFrom("1.1", "1.9", "1.0");

const envelope = (id: string) =>
  mixed({
    specVersion: version.map(raw),
    threadId: just(id),
    title: just("Before"),
    createdAt: just(CREATED),
    updatedAt: just(CREATED),
    agent: mixed({ id: just("a"), name: just("A") }),
    context: mixed({ workingDir: just("/x"), worktree: mixed({ path: just("/x"), branch: just("b") }) }),
    stats: mixed({
      messageCount: just(0),
      userMessageCount: just(0),
      agentMessageCount: just(0),
      toolCallCount: just(0),
    }),
    metadata: mixed({ app: foreign }),
  });

const call = mixed({
  toolCallId: just("c"),
  name: just("bash"),
  status: fc.constantFrom("pending", "completed").map(raw),
  diff: mixed({ path: just("p"), oldText: just(""), newText: just("x") }),
});
const block = fc.oneof(
  mixed({ type: just("text"), text: just("t") }),
  mixed({ type: just("later"), data: foreign }),
);
const line = (id: string) =>
  mixed({
    id: just(id),
    role: fc.constantFrom("user", "agent", "system").map(raw),
    timestamp: fc.constantFrom("2026-02-02T00:00:00.000Z", "2026-03-03T00:00:00.000Z").map(raw),
    content: listOf(block),
    toolCalls: listOf(call),
    tokens: mixed({ input: just(1) }),
  });

const config = mixed({
  specVersion: version.map(raw),
  createdBy: mixed({ name: just("Other"), version: just("9") }),
  defaults: mixed({ agentId: just("before") }),
  agentSettings: mixed({ a: foreign }),
  worktreeHooks: mixed({
    symlinks: listOf(mixed({ source: just("s") })),
    postSetupCommands: listOf(mixed({ command: just("true") })),
  }),
});

type Step = "rename" | "append" | "refresh" | "clear" | "metadata" | "configure" | "read";
const step = fc.tuple(
  fc.constantFrom<Step>("rename", "append", "refresh", "clear", "metadata", "configure", "read"),
  fc.nat({ max: 1 }),
  fc.jsonValue({ maxDepth: 2 }),
);

const ids = ["t0", "t1"];
const wholeProject = fc.record({
  layout,
  envelopes: fc.tuple(...ids.map(envelope)),
  logs: fc.tuple(...ids.map(() => fc.tuple(line("m0"), line("m1"), line("m2")))),
  config,
  steps: fc.array(step, { minLength: 1, maxLength: 8 }),
});

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;

/** What the files should say, kept beside them step by step. */
interface Expected {
  envelope: Model;
  log: string;
}

class Mirror {
  readonly threads: Expected[];
  config: Model;
  readonly #layout: Layout;
  readonly #root: string;

  constructor(root: string, given: Generated<typeof wholeProject>) {
    this.#root = root;
    this.#layout = given.layout;
    this.config = given.config;
    this.threads = given.envelopes.map((each, n) => ({
      envelope: each,
      log: (given.logs[n] as Model[]).map((text) => `${render(text, "")}\n`).join(""),
    }));
  }

  #files(): [string, string][] {
    const threads = this.threads.flatMap(({ envelope: each, log }, n): [string, string][] => [
      [`threads/${ids[n]}/thread.json`, render(each, this.#layout)],
      [`threads/${ids[n]}/messages.jsonl`, log],
    ]);
    return [["config.json", render(this.config, this.#layout)], ...threads];
  }

  write(): void {
    rmSync(join(this.#root, ".agent"), { recursive: true, force: true });
    for (const [path, text] of this.#files()) {
      mkdirSync(join(this.#root, ".agent", path, ".."), { recursive: true });
      writeFileSync(join(this.#root, ".agent", path), text);
    }
  }

  expectSame(): void {
    for (const [path, text] of this.#files()) {
      let found = "";
      try {
        found = readFileSync(join(this.#root, ".agent", path), "utf8");
      } catch {
        // A log that was cleared is no file until something is appended.
      }
      expect(found, path).toBe(text);
    }
  }

  /** Every write brings an older version up to ours, and never a newer one down. */
  change(n: number, path: string[], value: unknown): void {
    const thread = this.threads[n] as Expected;
    thread.envelope = upToDate(set(thread.envelope, path, raw(value)), this.#layout);
  }

  derive(n: number): void {
    const { log } = this.threads[n] as Expected;
    const messages = log
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text));
    const by = (role: string) => messages.filter((message) => message.role === role).length;
    this.change(n, ["updatedAt"], messages.at(-1)?.timestamp ?? CREATED);
    this.change(n, ["stats", "messageCount"], messages.length);
    this.change(n, ["stats", "userMessageCount"], by("user"));
    this.change(n, ["stats", "agentMessageCount"], by("agent"));
    this.change(n, ["stats", "toolCallCount"], messages.flatMap((message) => message.toolCalls ?? []).length);
  }
}

function upToDate(model: Model, as: Layout): Model {
  const { specVersion } = JSON.parse(render(model, as));
  return specVersion === "1.0" ? set(model, ["specVersion"], raw("1.1")) : model;
}

function modelOf(value: unknown): Model {
  if (Array.isArray(value)) return value.map(modelOf);
  if (typeof value !== "object" || value === null) return raw(value);
  return { members: Object.entries(value).map(([key, inner]) => [key, modelOf(inner)] as const) };
}

async function perform(
  project: Project,
  mirror: Mirror,
  [what, n, value]: Generated<typeof step>,
): Promise<void> {
  const thread = await project.thread(ids[n] as string);
  const expected = mirror.threads[n] as Expected;
  switch (what) {
    case "rename":
      await thread.change([{ path: ["title"], value: `After "${n}"` }]);
      return mirror.change(n, ["title"], `After "${n}"`);
    case "metadata":
      await thread.change([{ path: ["metadata", "heddle"], value }]);
      expected.envelope = set(expected.envelope, ["metadata", "heddle"], modelOf(value));
      return mirror.change(n, ["threadId"], ids[n]);
    case "append": {
      const message = {
        own: value,
        ...textMessage(`n${expected.log.length}`),
        content: [{ data: value, type: "new" }],
      };
      await thread.append(message);
      await thread.close();
      expected.log += `${JSON.stringify(message)}\n`;
      return mirror.derive(n);
    }
    case "refresh":
      if (await thread.refreshDerived()) mirror.derive(n);
      return;
    case "clear":
      if ((await thread.clear()) === undefined) return;
      expected.log = "";
      return mirror.derive(n);
    case "configure":
      await changeConfig(project.root, { name: "x", version: "1" }, [
        { path: ["defaults", "agentId"], value: "after" },
      ]);
      mirror.config = upToDate(set(mirror.config, ["defaults", "agentId"], raw("after")), "");
      return;
    case "read": {
      const parsed = expected.log
        .split("\n")
        .filter(Boolean)
        .map((text) => JSON.parse(text));
      expect((await thread.read()).messages).toEqual(parsed);
      expect((await thread.pageForward()).entries.map(({ message }) => message)).toEqual(parsed);
      expect((await readConfig(project.root))?.createdBy).toMatchObject({ name: "Other", version: "9" });
      expect((await project.list()).filter((each) => "error" in each)).toEqual([]);
    }
  }
}

test("[FMT5] whatever is done to a project, what belongs to others stays to the byte, at every level of every file", async () => {
  const { root } = await freshProject();
  await fc.assert(
    fc.asyncProperty(wholeProject, async (given) => {
      const mirror = new Mirror(root, given);
      mirror.write();
      const project = await openProject(root);
      try {
        for (const each of given.steps) {
          await perform(project, mirror, each);
          mirror.expectSame();
        }
      } finally {
        await project.close();
      }
      mirror.expectSame();
    }),
    { numRuns: 150 },
  );
});
