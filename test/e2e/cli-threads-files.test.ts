import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { envelopeOf, line } from "../atsf/support.js";
import { buildCommand, CliHome } from "../support/cli.js";

const ESC = "\u001b";
let home: CliHome;
let project: string;
let count = 0;

beforeAll(async () => {
  await buildCommand();
  home = new CliHome();
  await home.serve();
});
afterAll(() => home.remove());
/** A project of its own for each test. */
beforeEach(() => {
  project = `p${++count}`;
  home.write({ [`${project}/a.txt`]: "a\n" });
});

/** Makes the workspace, once what other programs wrote is there: what comes later is followed, but not at once. */
const bind = () => home.ok("workspaces", "create", project);

const ok = (...args: string[]) => home.ok(...args, "--workspace", project);
const json = (...args: string[]) => home.json(...args, "--workspace", project);
const run = (...args: string[]) => home.run([...args, "--workspace", project]);
const filesOf = (id: string) => join(home.cwd, project, ".agent", "threads", id);

/** A thread that another program wrote. */
function foreign(id: string, messages: readonly object[], more: object = {}): void {
  home.write({
    [`${project}/.agent/threads/${id}/thread.json`]: JSON.stringify(envelopeOf(id, more)),
    [`${project}/.agent/threads/${id}/messages.jsonl`]: messages.map(line).join(""),
  });
}

const said = (id: string, role: string, ...content: object[]) => ({
  id,
  role,
  timestamp: `2026-03-01T10:0${id.slice(-1)}:00.000Z`,
  content,
});
const text = (words: string) => ({ type: "text", text: words });

describe("threads messages", () => {
  test("[CLI100] time, role and text; tool calls and images in their order, a line each", async () => {
    foreign("other.1", [
      said("m1", "user", text("Fix the login\n\nplease\n"), {
        type: "image",
        assetRef: "sha256-0123456789abcdef.png",
        mimeType: "image/png",
      }),
      {
        ...said(
          "m2",
          "agent",
          { type: "thinking", text: "Let me\nlook" },
          text("Looking."),
          { type: "tool_call_ref", toolCallId: "t2" },
          text("Done."),
          { type: "acme_chart", rows: [] },
        ),
        toolCalls: [
          { toolCallId: "t1", name: "bash", status: "failed", input: '{"command":\n"ls"}' },
          { toolCallId: "t2", name: "read", title: "Read auth.ts", status: "completed", input: "x" },
        ],
        model: "sonnet",
        stopReason: "max_tokens",
      },
    ]);
    await bind();
    expect(await ok("threads", "messages", "other.1", "--from-start")).toBe(
      [
        "2026-03-01 10:01  user",
        "  Fix the login",
        "  ",
        "  please",
        "  [image] sha256-0123456789abcdef.png",
        "",
        "2026-03-01 10:02  agent  sonnet  max_tokens",
        "  [thinking] Let me look",
        "  Looking.",
        "  [tool] read  Read auth.ts  completed",
        "  Done.",
        "  [acme_chart]",
        '  [tool] bash  {"command": "ls"}  failed',
        "",
      ].join("\n"),
    );
    const { data, more } = await json("threads", "messages", "other.1");
    expect({ ids: data.map(({ id }: { id: string }) => id), more }).toEqual({
      ids: ["m1", "m2"],
      more: false,
    });
    expect(data[1].toolCalls).toHaveLength(2);
  });

  test("[CLI100] goes on to its limit, page by page, and says when there are more", async () => {
    foreign("empty", []);
    foreign(
      "long",
      Array.from({ length: 250 }, (_, index) => ({
        ...said("m0", "user", text(`number ${index}`)),
        id: `n${index}`,
      })),
    );
    await bind();
    const ids = async (...args: string[]) =>
      (await json("threads", "messages", "long", ...args)).data.map(({ id }: { id: string }) => id);
    expect(await ids("--limit", "220")).toEqual(Array.from({ length: 220 }, (_, index) => `n${30 + index}`));
    expect(await ids("--limit", "1000", "--from-start")).toHaveLength(250);
    const { stdout, stderr } = await run("threads", "messages", "long", "--limit", "2");
    expect(stdout).toContain("number 249");
    expect(stdout).not.toContain("number 247");
    expect(stderr).toContain("There are more: --limit 20");
    expect(await ok("threads", "messages", "empty")).toBe("No messages yet.\n");
  });

  test("[CLI112] nothing that another program wrote steers the terminal", async () => {
    const evil = `red ${ESC}[31m ${ESC}]0;title\u0007`;
    foreign("evil", [{ ...said("m1", "user", text(evil)), model: evil }], { title: evil });
    await bind();
    for (const args of [
      ["threads", "messages", "evil"],
      ["threads", "show", "evil"],
      ["threads"],
      ["threads", "search", "red"],
      ["atsf", "show", project, "evil"],
    ]) {
      const where = args[0] === "atsf" ? [] : ["--workspace", project];
      const { stdout } = await home.onTerminal([...args, ...where], { env: { NO_COLOR: "1" } });
      expect(stdout, args.join(" ")).toContain("red ^[[31m");
      expect(stdout, args.join(" ")).not.toContain(ESC);
    }
  });
});

describe("threads search", () => {
  test("[CLI101] finds messages by the beginnings of their words, with where they stand", async () => {
    foreign(
      "one",
      [
        said("m1", "user", text("The retry policy of invoices")),
        said("m2", "agent", text("Retries stop after five.")),
      ],
      { title: "Billing" },
    );
    foreign("two", [said("m3", "user", text("Nothing about policies, retry later"))]);
    await bind();
    expect(await ok("threads", "search", "retry", "pol", "--thread", "one")).toBe(
      "2026-03-01 10:01  user  Billing  one\n  The retry policy of invoices\n",
    );
    const { data, more, incomplete } = await json("threads", "search", "retr");
    expect(data.map(({ message_id }: { message_id: string }) => message_id)).toEqual(["m3", "m2", "m1"]);
    expect({ more, incomplete }).toEqual({ more: false, incomplete: false });
    const few = await run("threads", "search", "retr", "--limit", "2");
    expect(few.stdout.trim().split("\n")).toHaveLength(4);
    expect(few.stderr).toContain("There are more: --limit 20");
    expect(await ok("threads", "search", "nowhere")).toBe("Nothing found.\n");
  });

  test("[CLI101] a thread's id says its workspace, and an unknown one is refused", async () => {
    foreign(`only-${project}`, [said("m1", "user", text("Findable"))]);
    await bind();
    expect(
      (await home.json("threads", "search", "findable", "--thread", `only-${project}`)).data,
    ).toHaveLength(1);
    const refused = await run("threads", "search", "x", "--thread", "thr_none");
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("There is no thread thr_none.");
  });
});

describe("threads append", () => {
  test("[CLI102] a text or standard input, under a role, without the last line end", async () => {
    await bind();
    const { thread } = await json("threads", "start");
    expect(await ok("threads", "append", thread.id, "Use cents")).toMatch(
      /^Appended a message by the user {2}\S+\n$/,
    );
    await home.run(["threads", "append", thread.id, "-", "--role", "agent"], { input: "two\nlines\n\n" });
    const { message } = await json("threads", "append", thread.id, "note", "--role", "system");
    expect(message).toMatchObject({ role: "system", content: [{ type: "text", text: "note" }] });
    const lines = readFileSync(join(filesOf(thread.id), "messages.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((each) => JSON.parse(each));
    expect(lines.map(({ role, content }) => [role, content[0].text])).toEqual([
      ["user", "Use cents"],
      ["agent", "two\nlines\n"],
      ["system", "note"],
    ]);
    expect((await json("threads", "show", thread.id)).thread.title).toBe("Use cents");
  });

  test("[CLI102] nothing, an unknown role and what is not UTF-8 are refused", async () => {
    await bind();
    const { thread } = await json("threads", "start");
    const empty = await home.run(["threads", "append", thread.id, "-"], { input: " \n" });
    expect({ code: empty.code, stderr: empty.stderr }).toEqual({
      code: 2,
      stderr: "heddle: There is no text to append.\n`heddle threads append --help` shows how it is used.\n",
    });
    expect((await run("threads", "append", thread.id, "x", "--role", "robot")).code).toBe(2);
    const binary = await home.run(["threads", "append", thread.id, "-"], {
      input: Buffer.from([0xff, 0xfe]),
    });
    expect({ code: binary.code, stderr: binary.stderr }).toEqual({
      code: 1,
      stderr: "heddle: Standard input is not UTF-8 text.\n",
    });
    expect(existsSync(join(filesOf(thread.id), "messages.jsonl"))).toBe(false);
  });

  test("[CLI102] a thread that can't be written to says why", async () => {
    foreign("dir-name", [], { threadId: "another-name" });
    await bind();
    const { code, stderr } = await run("threads", "append", "dir-name", "x");
    expect(code).toBe(1);
    expect(stderr).toContain("its directory is called dir-name, but thread.json says another-name");
    expect(await ok("threads", "show", "dir-name")).toMatch(/^read-only +its directory is called dir-name/m);
  });
});

describe("threads clear", () => {
  test("[CLI103] asks on a terminal and needs --yes elsewhere; the old log stays beside the thread", async () => {
    await bind();
    const { thread } = await json("threads", "start", "--title", "Long");
    const { id } = thread;
    await ok("threads", "append", id, "one");
    const refused = await run("threads", "clear", id);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("add --yes");
    const no = await home.onTerminal(["threads", "clear", id], { answers: [["Clear Long? 1 message", "n"]] });
    expect(no.stdout).toContain("Nothing was changed.");
    expect((await json("threads", "messages", id)).data).toHaveLength(1);
    const cleared = await run("threads", "clear", id, "--yes");
    expect(cleared).toMatchObject({ code: 0, stdout: `Cleared Long  ${id}\n` });
    expect(cleared.stderr).toContain(`heddle threads unclear ${id}`);
    expect((await json("threads", "messages", id)).data).toEqual([]);
    const aside = readdirSync(filesOf(id)).filter((name) => name.startsWith("messages.jsonl.cleared-"));
    expect(aside).toHaveLength(1);
    expect(readFileSync(join(filesOf(id), aside[0] as string), "utf8")).toContain('"one"');
    expect((await json("threads", "clear", id, "--yes")).thread).toMatchObject({
      id,
      title: "Long",
      message_count: 0,
    });
    expect(await ok("threads", "unclear", id)).toBe(`Brought back Long  ${id}\n`);
    expect((await json("threads", "messages", id)).data).toHaveLength(1);
    const again = await run("threads", "unclear", id);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain("There is nothing to bring back");
  });
});

describe("threads on disk", () => {
  test("[CLI113] delete puts the files into the bin, undelete brings them back", async () => {
    await bind();
    const { thread } = await json("threads", "start", "--title", "Kept");
    await ok("threads", "append", thread.id, "still here");
    const before = readFileSync(join(filesOf(thread.id), "messages.jsonl"));
    await ok("threads", "delete", thread.id);
    expect(existsSync(filesOf(thread.id))).toBe(false);
    await ok("threads", "undelete", thread.id);
    expect(readFileSync(join(filesOf(thread.id), "messages.jsonl"))).toEqual(before);
    expect((await home.run(["threads", "delete", "--help"])).stdout.replace(/\s+/g, " ")).toContain(
      "bin; for 30 days both can come back",
    );
    expect((await home.run(["threads", "undelete", "--help"])).stdout).toContain("with its files");
  });

  test("[CLI109] show tells where the files are, in a project and without one", async () => {
    await bind();
    const { thread } = await json("threads", "start", "--title", "Here");
    expect(await ok("threads", "show", thread.id)).toContain(`\ndirectory  ${filesOf(thread.id)}\n`);
    const { thread: homely } = await home.json("threads", "start", "--workspace", "Home");
    const dir = join(home.data, "workspaces", homely.workspace_id, ".agent", "threads", homely.id);
    expect(await home.ok("threads", "show", homely.id)).toContain(`\ndirectory  ${dir}\n`);
    expect(existsSync(join(dir, "thread.json"))).toBe(true);
  });
});
