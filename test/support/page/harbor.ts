import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestGateway } from "../gateway.js";
import type { ModelServer } from "../model-server/server.js";
import { harborConfig } from "./harbor-config.js";
import { Desk } from "./harbor-desk.js";
import { writeDocs } from "./harbor-docs.js";
import { bundle } from "./harbor-failed.js";
import * as others from "./harbor-others.js";
import { writeProject } from "./harbor-project.js";
import { type Release, release } from "./harbor-release.js";
import { migrationThread, type Webhooks, webhooks } from "./harbor-webhooks.js";

/** The workspace of the pictures. All of it was made through the public wire; ids and times are the moment's, all else is fixed. */
export interface Harbor {
  readonly desk: Desk;
  readonly ws: string;
  readonly folders: Readonly<
    Record<"backend" | "payments" | "web" | "release" | "ideas" | "archive", string>
  >;
  readonly webhooks: Webhooks;
  readonly release: Release;
  /** The thread whose last run never began. */
  readonly bundle: string;
  readonly datePicker: string;
  readonly slowQuery: string;
  /** A workspace that nobody has worked in yet. */
  readonly fresh: string;
}

interface Place {
  readonly gateway: TestGateway;
  readonly model: ModelServer;
  /** An empty directory: the project. */
  readonly root: string;
  /** How many threads stand in the archive. */
  readonly archived?: number;
}

/** Writes the configuration that a gateway for harbor begins with. */
export function writeHarborConfig(url: string, dir: string): string {
  const file = join(dir, "heddle.config.json");
  writeFileSync(file, JSON.stringify(harborConfig(url, dir)));
  return file;
}

export async function buildHarbor({ gateway, model, root, archived = 208 }: Place): Promise<Harbor> {
  writeProject(root);
  const wire = await gateway.wire();
  const root_path = realpathSync(root);
  const { workspace } = await wire.result("workspace/create", { name: "harbor", root_path });
  const desk = new Desk(wire, model, workspace.id);
  const fresh = await emptyWorkspace(desk, `${root_path}-fresh`);
  const folders = await makeFolders(desk);
  await writeDocs(desk, folders);
  // Of a folder's threads the last that was made comes first.
  await others.idempotency(desk, folders.payments);
  const migration = await migrationThread(desk, folders.payments);
  await others.refunds(desk, folders.payments);
  const busy = await webhooks(desk, { ...folders, migration });
  await others.login(desk, folders.backend);
  const slowQuery = await others.slowQuery(desk, folders.backend);
  const failed = await bundle(desk, folders.web);
  await others.checkoutCopy(desk, folders.web);
  const datePicker = await others.datePicker(desk, folders.web);
  await others.changelog(desk, folders.release);
  const released = await release(desk, folders.release);
  await others.atRoot(desk);
  await others.closedFolders(desk, folders.ideas, folders.archive, archived);
  return {
    desk,
    ws: workspace.id,
    folders,
    webhooks: busy,
    release: released,
    bundle: failed,
    datePicker,
    slowQuery,
    fresh,
  };
}

async function makeFolders(desk: Desk): Promise<Harbor["folders"]> {
  const backend = await desk.folder("Backend");
  const payments = await desk.folder("Payments", backend);
  const web = await desk.folder("Web");
  const made = await desk.folder("Release 4.2");
  const ideas = await desk.folder("Ideas");
  const archive = await desk.folder("Archive");
  return { backend, payments, web, release: made, ideas, archive };
}

async function emptyWorkspace({ wire }: Desk, root_path: string): Promise<string> {
  mkdirSync(root_path);
  return (await wire.result("workspace/create", { name: "quay", root_path })).workspace.id;
}
