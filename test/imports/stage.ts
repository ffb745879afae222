import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import type { Params, Result } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { type StoreKind, temporaryDirectory } from "../support/stores.js";
import { projectDirectory, ThreadScene } from "../support/threads.js";
import { Claude, PNG, text, toolUse } from "./sessions.js";

export type Import = Omit<Params<"thread/import">, "workspace_id">;
export type Imported = Result<"thread/import">;

/** A home with tools' sessions in it, and a gateway that looks there. */
export function stage(kind: StoreKind) {
  const home = temporaryDirectory();
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind, { sessionEnv: { HOME: home } });
  });
  afterAll(() => gateway?.stop());
  return {
    home,
    gateway: () => gateway,
    scene: () => ThreadScene.at(gateway, projectDirectory()),
    sceneAt: (root: string) => ThreadScene.at(gateway, root),
  };
}

export const take = (scene: ThreadScene, given: Import): Promise<Imported> =>
  scene.wire.result("thread/import", { workspace_id: scene.workspace_id, ...given });
export const only = ({ data }: Imported) => {
  expect(data.length).toBe(1);
  return data[0] as Imported["data"][number];
};
export const said = async (scene: ThreadScene, id: string) =>
  (await scene.messages(id)).map(({ content }) => content.map((block) => block.text ?? block.type).join(" "));

let serial = 0;
export const newId = () => `00000000-0000-4000-8000-${String(++serial).padStart(12, "0")}`;

/** Two turns with a tool, long enough ago that nobody is at work. */
export function talk(home: string, cwd: string, id = newId()): Claude {
  const session = new Claude(home, cwd, id)
    .user("a", null, [text("Look"), { type: "image", source: { media_type: "image/png", data: PNG } }])
    .answer(
      "b",
      "a",
      [{ type: "thinking", thinking: "Hm." }, text("I look."), toolUse("t1", "Read", { p: 1 })],
      {
        stop_reason: "tool_use",
      },
    )
    .result("c", "b", ["t1", "found it"])
    .answer("d", "c", [text("Done.")]);
  return old(session.save());
}

export function old<S extends { readonly path: string }>(session: S): S {
  utimesSync(session.path, 1_700_000_000, 1_700_000_000);
  return session;
}

/** Every file of a project's threads with its bytes and its time. */
export function snapshot(scene: ThreadScene): string[] {
  const dir = join(scene.root, ".agent/threads");
  const names = readdirSync(dir, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(dir, name)).isFile(),
  );
  return names
    .sort()
    .map((name) => `${name} ${statSync(join(dir, name)).mtimeMs} ${readFileSync(join(dir, name), "base64")}`);
}

/** A directory that is there. */
export function realDirectory(path: string): string {
  mkdirSync(path, { recursive: true });
  return path;
}
