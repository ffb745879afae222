import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { startGateway, type TestGateway } from "../gateway.js";
import { type ModelServer, startModelServer } from "../model-server/server.js";
import { sqliteStore, temporaryDirectory } from "../stores.js";
import { buildHarbor, type Harbor, writeHarborConfig } from "./harbor.js";

export interface HarborStage {
  gateway(): TestGateway;
  model(): ModelServer;
  harbor(): Harbor;
}

/** `harbor`, built once for a suite. */
export function harborStage({ archived = 208 }: { readonly archived?: number } = {}): HarborStage {
  let gateway: TestGateway;
  let model: ModelServer;
  let harbor: Harbor;
  beforeAll(async () => {
    const dir = temporaryDirectory();
    const root = join(dir, "harbor");
    mkdirSync(root);
    model = await startModelServer();
    gateway = await startGateway(sqliteStore, { configFile: writeHarborConfig(model.url, dir) });
    harbor = await buildHarbor({ gateway, model, root, archived });
  }, 120_000);
  afterAll(async () => {
    await gateway?.stop();
    await model?.close();
  });
  return { gateway: () => gateway, model: () => model, harbor: () => harbor };
}
