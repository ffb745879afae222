import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Result } from "../../src/protocol/index.js";
import { freshRepository, ownGit } from "../atsf/repository.js";
import { temporaryDirectory } from "../support/stores.js";
import { failure, fits, message, onEachBench } from "./support.js";

beforeEach(() => void ownGit());
afterEach(() => vi.unstubAllEnvs());

const PACK = "prompts/packs/default.json";

onEachBench("the packs there are", (bench) => {
  test("[PRM20] those of the index and those of the convention are listed", async () => {
    const room = await bench().workspace();
    expect(await room.list()).toEqual([]);
    room.write({
      [PACK]: message("d"),
      "prompts/packs/broken.json": "[]",
      "prompts/packs/notes.txt": "no pack",
    });
    room.write({ "prompts/packs/bad name.json": message("x"), "prompts/packs/.hidden.json": message("x") });
    mkdirSync(join(room.root, "prompts/packs/nested"));
    const broken = {
      name: "broken",
      path: "prompts/packs/broken.json",
      valid: false,
      error: "prompts/packs/broken.json is no prompt: it holds no message.",
    };
    const plain = await room.list();
    expect(plain).toEqual([broken, { name: "default", path: PACK, valid: true, default: true }]);
    fits("prompt/packs", { data: plain });
    const prompt_packs = {
      mapped: "texts/m.json",
      broken: "texts/m.json",
      out: "../x.json",
      gone: "gone.json",
    };
    room.write({
      "agent.workspace.json": { schema_version: 1, prompt_packs, defaults: { prompt_pack: "unwritten" } },
      "texts/m.json": message("m"),
    });
    expect(await room.list()).toEqual([
      { name: "broken", path: "texts/m.json", valid: true },
      { name: "default", path: PACK, valid: true },
      {
        name: "gone",
        path: "gone.json",
        valid: false,
        error: expect.stringMatching(/There is no file gone\.json/),
      },
      { name: "mapped", path: "texts/m.json", valid: true },
      { name: "out", path: "../x.json", valid: false, error: expect.stringMatching(/leads out/) },
      {
        name: "unwritten",
        path: "prompts/packs/unwritten.json",
        valid: false,
        default: true,
        error: expect.stringMatching(/There is no file/),
      },
    ]);
  });

  test("[PRM18] [PRM20] with an index that can't be used no pack can, and each says why", async () => {
    const room = await bench().workspace();
    room.write({ "agent.workspace.json": "{" });
    const error = expect.stringMatching(
      /^agent\.workspace\.json can't be used: .* remove it to go by convention\.$/,
    );
    const entry = (name: string) => ({ name, path: `prompts/packs/${name}.json`, valid: false, error });
    expect(await room.list()).toEqual([{ ...entry("default"), default: true }]);
    room.write({ "prompts/packs/a.json": message("x") });
    expect(await room.list()).toEqual([entry("a"), { ...entry("default"), default: true }]);
  });

  test("[PRM20] with a version it is the list of that commit", async () => {
    const repository = freshRepository({
      [PACK]: JSON.stringify(message("x")),
      "prompts/packs/old.json": "{}",
    });
    repository.git("rm", "-q", "prompts/packs/old.json");
    repository.write({ "prompts/packs/new.json": JSON.stringify(message("new")) });
    const room = await bench().workspace(repository.dir);
    const names = (data: Result<"prompt/packs">["data"]) => data.map(({ name, valid }) => [name, valid]);
    expect(names(await room.list())).toEqual([
      ["default", true],
      ["new", true],
    ]);
    expect(names(await room.list({ version: "HEAD" }))).toEqual([
      ["default", true],
      ["old", false],
    ]);
    expect(await failure(room.list({ version: "no/such" }))).toEqual({
      kind: "prompt.unreadable",
      stage: "resolve",
      reason: expect.stringMatching(/no such commit/),
    });
  });

  test("[PRM20] a directory of packs that leads out is told, not listed", async () => {
    const outside = temporaryDirectory();
    const room = await bench().workspace();
    mkdirSync(join(room.root, "prompts"));
    symlinkSync(outside, join(room.root, "prompts/packs"));
    expect(await failure(room.list())).toEqual({
      kind: "prompt.unreadable",
      stage: "read",
      reason: expect.stringMatching(/prompts\/packs is a link that leads out/),
    });
  });
});
