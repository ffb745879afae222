import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { resolvePack } from "../../src/prompts/packs/source/resolve.js";
import { temporaryDirectory } from "../support/stores.js";
import { message } from "./support.js";

let root: string;
beforeEach(() => {
  root = realpathSync(temporaryDirectory());
});

function write(files: Record<string, unknown>, below = root): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(below, path)), { recursive: true });
    const raw = typeof content === "string" || content instanceof Uint8Array;
    writeFileSync(join(below, path), raw ? content : JSON.stringify(content));
  }
}

const index = (prompt_packs: object, defaults?: object) => ({
  schema_version: 1,
  prompt_packs,
  ...(defaults && { defaults }),
});

/** What is read, or the stage and the reason of the failure. */
async function read(pack = "default"): Promise<unknown> {
  try {
    const { content, ...rest } = await resolvePack(root, { pack });
    return { content: String(content), ...rest };
  } catch (error) {
    const { kind, data } = error as { kind: string; data: { stage: string; reason: string } };
    expect(kind, String(error)).toBe("prompt.unreadable");
    return data;
  }
}

const failed = (stage: string, reason: RegExp) => ({ stage, reason: expect.stringMatching(reason) });

describe("where a pack is", () => {
  test("[PRM10] it is read as it is, one message or several, byte for byte", async () => {
    const text = ' [ {"role" : "system",\n"content":"é", "x": 1} , {"role":"user","content":[]} ]\n';
    write({ "prompts/packs/default.json": text, "prompts/packs/a.b-c_1.json": message("one") });
    expect(await read()).toEqual({ content: text });
    expect(await read("a.b-c_1")).toEqual({ content: JSON.stringify(message("one")) });
  });

  test("[PRM11] the index says where; what it does not name stands where the convention says", async () => {
    const text = JSON.stringify(index({ mapped: "./texts//one.json", missing: "texts/none.json" }));
    write({
      "agent.workspace.json": text,
      "texts/one.json": message("mapped"),
      "prompts/packs/mapped.json": message("by convention"),
      "prompts/packs/other.json": message("other"),
    });
    const read1 = { content: JSON.stringify(message("mapped")), index: Buffer.from(text) };
    expect(await read("mapped")).toEqual(read1);
    expect(await read("other")).toMatchObject({ content: JSON.stringify(message("other")) });
    expect(await read("missing")).toEqual(
      failed("read", /There is no file texts\/none\.json in the workspace/),
    );
  });

  test.each(["constructor", "toString", "hasOwnProperty", "prototype", "valueOf"])(
    "[PRM19] a pack may be called %s",
    async (pack) => {
      write({ "agent.workspace.json": index({}), [`prompts/packs/${pack}.json`]: message(pack) });
      expect(await read(pack)).toMatchObject({ content: JSON.stringify(message(pack)) });
      write({
        "agent.workspace.json": index({ [pack]: "elsewhere.json" }),
        "elsewhere.json": message("else"),
      });
      expect(await read(pack)).toMatchObject({ content: JSON.stringify(message("else")) });
    },
  );

  test("[PRM19] __proto__ in the index is no pack and changes nothing", async () => {
    const index =
      '{"schema_version":1,"prompt_packs":{"__proto__":{"default":"x.json"}},"__proto__":{"defaults":{}}}';
    write({ "agent.workspace.json": index, "prompts/packs/default.json": message("by convention") });
    expect(await read()).toMatchObject({ content: JSON.stringify(message("by convention")) });
  });

  test.each([
    ["not JSON", "{", /agent\.workspace\.json can't be used: it is not JSON/],
    ["empty", "", /it is empty/],
    ["not UTF-8", new Uint8Array([0x7b, 0xff]), /it is not UTF-8/],
    ["no object", [], /must be an object/],
    ["without a version", { prompt_packs: {} }, /schema_version: must be 1/],
    ["of a newer version", { schema_version: 2 }, /schema_version: must be 1/],
    ["with packs as a list", { schema_version: 1, prompt_packs: [] }, /prompt_packs: must be an object/],
    ["with a path that is none", index({ a: 5 }), /prompt_packs\.a: must be a string/],
    [
      "with a name that is none",
      index({ "../a": "x.json" }),
      /prompt_packs\.\.\.\/a: must be the name of a pack/,
    ],
    [
      "with a default that is none",
      index({}, { prompt_pack: "a/b" }),
      /defaults\.prompt_pack: must be the name/,
    ],
    ["too large", Buffer.alloc(1024 * 1024 + 1, " "), /agent\.workspace\.json is larger than 1 MiB/],
  ])("[PRM18] an index that is %s fails", async (_, content, reason) => {
    write({ "agent.workspace.json": content, "prompts/packs/default.json": message("by convention") });
    expect(await read()).toEqual(failed("index", reason));
  });

  test("[PRM11] an index may say little, and more than is known", async () => {
    write({ "prompts/packs/default.json": message("x") });
    for (const given of [{ schema_version: 1 }, { schema_version: 1, defaults: {}, tools: { a: 1 } }]) {
      write({ "agent.workspace.json": given });
      expect(await read()).toMatchObject({ content: JSON.stringify(message("x")) });
    }
    write({
      "agent.workspace.json": `\uFEFF${JSON.stringify(index({ default: "y.json" }))}`,
      "y.json": message("y"),
    });
    expect(await read()).toMatchObject({ content: JSON.stringify(message("y")) });
  });
});

describe("what is read", () => {
  test.each([
    ["/etc/passwd", /is not a relative path/],
    ["C:/prompt.json", /is not a relative path/],
    ["../outside.json", /leads out of the workspace's directory/],
    ["prompts/../../outside.json", /leads out/],
    ["..", /leads out/],
    ["prompts\\x.json", /has a character that no such path may have/],
    ["a\0b.json", /has a character/],
    ["a\nb.json", /has a character/],
    [".", /names no file/],
    ["./", /names no file/],
    [".git/config", /is in \.git or \.agent/],
    ["sub/.GIT/config", /is in \.git or \.agent/],
    [".agent/threads/x/thread.json", /is in \.git or \.agent/],
  ])("[PRM16] the path %j is refused", async (path, reason) => {
    write({ "agent.workspace.json": index({ default: path }), "../outside.json": message("x") });
    expect(await read()).toEqual(failed("resolve", reason));
  });

  test("[PRM15] links within the directory are followed, those that lead out are not", async () => {
    const outside = realpathSync(temporaryDirectory());
    write({ "secret.json": message("secret"), "packs/default.json": message("secret") }, outside);
    write({ "texts/real.json": message("real"), ".agent/private.json": message("private") });
    mkdirSync(join(root, "prompts/packs"), { recursive: true });
    const link = (to: string, pack: string) => symlinkSync(to, join(root, `prompts/packs/${pack}.json`));
    link("../../texts/real.json", "inside");
    link(join(outside, "secret.json"), "outside");
    link("../../.agent/private.json", "hidden");
    link("../../nowhere.json", "dangling");
    link("circle.json", "circle");
    expect(await read("inside")).toEqual({ content: JSON.stringify(message("real")) });
    expect(await read("outside")).toEqual(
      failed("read", /outside\.json is a link that leads out of the workspace/),
    );
    expect(await read("hidden")).toEqual(failed("read", /is in \.git or \.agent/));
    expect(await read("dangling")).toEqual(failed("read", /There is no file/));
    expect(await read("circle")).toEqual(failed("read", /is a link that leads nowhere/));
    rmSync(join(root, "prompts"), { recursive: true });
    symlinkSync(outside, join(root, "prompts"));
    expect(await read()).toEqual(failed("read", /leads out of the workspace's directory/));
    symlinkSync(join(outside, "secret.json"), join(root, "agent.workspace.json"));
    expect(await read()).toEqual(failed("index", /agent\.workspace\.json is a link that leads out/));
  });

  test("[PRM15] a directory beside it whose name begins the same is outside", async () => {
    const beside = `${root}-beside`;
    write({ "default.json": message("x") }, beside);
    mkdirSync(join(root, "prompts"));
    symlinkSync(beside, join(root, "prompts/packs"));
    expect(await read()).toEqual(failed("read", /leads out/));
  });

  test("[PRM15] what is no regular file is refused at once", async () => {
    mkdirSync(join(root, "prompts/packs/directory.json"), { recursive: true });
    execFileSync("mkfifo", [join(root, "prompts/packs/pipe.json")]);
    const server = createServer();
    await new Promise<void>((ready) => server.listen(join(root, "prompts/packs/socket.json"), ready));
    for (const pack of ["directory", "pipe", "socket"])
      expect(await read(pack), pack).toEqual(failed("read", /is not a regular file/));
    await new Promise((done) => server.close(done));
    write({ "prompts/file": "x" });
    rmSync(join(root, "prompts/packs"), { recursive: true });
    renameSync(join(root, "prompts/file"), join(root, "prompts/packs"));
    expect(await read()).toEqual(failed("read", /There is no file/));
  });

  test("[PRM15] a file has at most 1 MiB", async () => {
    const full = JSON.stringify(message("x".repeat(1024 * 1024 - JSON.stringify(message("")).length)));
    write({ "prompts/packs/default.json": full, "prompts/packs/more.json": `${full} ` });
    expect(await read()).toEqual({ content: full });
    expect(await read("more")).toEqual(failed("read", /more\.json is larger than 1 MiB/));
  });

  test.skipIf(process.getuid?.() === 0)(
    "[PRM15] [permissions] a file without permission is told as such",
    async () => {
      write({ "prompts/packs/default.json": message("x") });
      chmodSync(join(root, "prompts/packs/default.json"), 0);
      expect(await read()).toEqual(failed("read", /may not be read: check its permissions/));
    },
  );

  test.each([
    ["parse", "", /default\.json is no prompt: it is empty/],
    ["parse", "Be brief.", /is no prompt: it is not JSON/],
    ["parse", new Uint8Array([0x22, 0xc3, 0x22]), /is not UTF-8/],
    ["validate", [], /holds no message/],
    ["validate", {}, /role: /],
    ["validate", { messages: [message("x")] }, /role: /],
    ["validate", [message("x"), { role: "system" }], /message 2: content: /],
    ["validate", "5", /expected object/],
  ])("[PRM17] what is no prompt fails to %s", async (stage, content, reason) => {
    write({ "prompts/packs/default.json": content });
    expect(await read()).toEqual(failed(stage, reason));
  });
});
