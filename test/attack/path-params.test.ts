import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { type MethodName, methods } from "../../src/protocol/index.js";
import { agentNamed, playByAgent } from "../support/agents.js";
import { bearer, exchangeBytes } from "../support/http.js";
import { runStage } from "../support/runs.js";
import { Place, SECRET } from "./places.js";

const stage = runStage(undefined, {
  config: (url) => ({ plugins: {}, agents: [agentNamed(url, "reader")] }),
  tampers: true,
});
let place: Place;
/** What params are called, and one of each that is there. */
let known: Record<string, unknown>;
beforeAll(async () => {
  place = await Place.make(stage.gateway(), stage.model());
  const { scene } = place;
  scene.write("prompts/packs/main.json", { role: "system", content: "Be brief." });
  playByAgent(scene.model, { reader: ["I see."] });
  const { id: thread_id } = await scene.start({ agent_id: "reader" });
  const run = await scene.answered(thread_id, "hello");
  const folder_id = await scene.folder("Folder");
  await scene.saveDoc("Be kind.");
  known = {
    workspace_id: scene.workspace_id,
    thread_id,
    folder_id,
    run_id: run.id,
    agent_id: "reader",
    ref: await scene.blob({ text: "Be brief." }),
    version: 1,
  };
});

interface Schema {
  readonly type?: string;
  readonly properties?: Record<string, Schema>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
}

/** Params that come as far as they can, with this text at each place in turn where a text can stand. */
function* withText(schema: Schema, text: string, name = "", depth = 0): Generator<unknown> {
  if (depth > 4 || schema.enum !== undefined || schema.const !== undefined) return;
  if (schema.type === "string") yield text;
  for (const one of schema.anyOf ?? []) yield* withText(one, text, name, depth + 1);
  if (schema.items) for (const item of withText(schema.items, text, name, depth + 1)) yield [item];
  const properties = Object.entries(schema.properties ?? {});
  for (const [key, one] of properties) {
    // Which directory is a project, a person says: it may be any.
    if (key === "root_path") continue;
    const rest = Object.fromEntries(
      properties
        .filter(([other]) => other !== key && (schema.required?.includes(other) || other in known))
        .map(([other, each]) => [other, plain(each, other)]),
    );
    for (const value of withText(one, text, key, depth + 1)) yield { ...rest, [key]: value };
  }
}

function plain(schema: Schema, name: string): unknown {
  if (name in known) return known[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf?.[0]) return plain(schema.anyOf[0], name);
  if (schema.type === "object")
    return Object.fromEntries(
      (schema.required ?? []).map((key) => [key, plain(schema.properties?.[key] ?? {}, key)]),
    );
  return { string: "x", integer: 1, number: 1, boolean: false, array: [] }[schema.type ?? "string"] ?? "x";
}

const schemaOf = (method: MethodName) =>
  z.toJSONSchema(methods[method].params, { io: "input", unrepresentable: "any" }) as Schema;

/** What ends things is done last, and asks nothing more. */
const CALM = (Object.keys(methods) as MethodName[]).filter((name) => !/delete|clear|subscribe/.test(name));

describe("a path where no path belongs", () => {
  test.each(CALM)(
    "[ATK20] %s reads, tells and changes nothing outside, wherever a path stands in its params",
    async (method) => {
      const { wire } = place.scene;
      const before = place.seen();
      const schema = schemaOf(method);
      let tried = 0;
      for (const text of [...place.ways().slice(0, 6), "../../../token"]) {
        for (const params of withText(schema, text)) {
          tried++;
          const { result, error } = await wire.call(method, params);
          const told = JSON.stringify({
            result,
            error: { ...error, message: unquoted(error?.message, text) },
          });
          expect(told, JSON.stringify(params).slice(0, 300)).not.toContain(SECRET);
          expect(told).not.toContain(stage.gateway().token);
        }
      }
      expect(place.seen(), method).toEqual(before);
      expect(tried > 0 || Object.keys(schema.properties ?? {}).length === 0).toBe(true);
    },
  );

  /** An error may repeat what it was given. */
  const unquoted = (message = "", text: string) => message.replaceAll(text, "");

  test("[ATK21] no tool does, whichever of its arguments is a path", async () => {
    const { wire, workspace_id } = place.scene;
    const before = place.seen();
    const { data } = await wire.result("tool/list", { workspace_id });
    // A command does what the user can: see SCP33.
    const tools = data.filter(({ name }) => name !== "bash");
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["files_read", "notes_create"]));
    for (const { name, parameters } of tools) {
      for (const text of place.ways()) {
        for (const given of withText(parameters as Schema, text)) {
          const { result, error } = await wire.call("tool/call", { workspace_id, name, arguments: given });
          expect(JSON.stringify({ result, error }), `${name} ${JSON.stringify(given)}`).not.toContain(SECRET);
        }
      }
    }
    expect(place.seen()).toEqual(before);
  });
});

test("[ATK22] no address leads to a file, in whichever spelling, as it was sent", async () => {
  const gateway = stage.gateway();
  const { thread_id } = known;
  const { dataDir } = gateway.place;
  writeFileSync(join(dataDir, "a.txt"), SECRET);
  const files = ["a.txt", "token", "heddle.db", "gateway.json"].map((name) => join(dataDir, name));
  const up = "../".repeat(12);
  const targets = [...files, place.outside("a.txt"), place.scene.path(String(thread_id), "thread.json")];
  const bases = [`/threads/${thread_id}/assets/`, "/threads/", "/assets/", "/schemas/", "/w/", "/"];
  const ping = { host: new URL(gateway.url).host, ...bearer(gateway) };
  const secrets = [SECRET, gateway.token, "SQLite format", '"specVersion"'];
  for (const base of bases) {
    for (const target of targets) {
      const path = `${up}${target.slice(1)}`;
      for (const spelt of [
        path,
        encodeURIComponent(path),
        path.replaceAll("../", "%2e%2e/"),
        path.replaceAll("/", "%5c"),
        path.replaceAll("../", "..%252f"),
        target,
      ]) {
        const head = `GET ${base}${spelt} HTTP/1.1\r\nHost: ${ping.host}\r\nAuthorization: ${ping.authorization}\r\nConnection: close\r\n\r\n`;
        const answer = await exchangeBytes(gateway.url, head);
        for (const secret of secrets) expect(answer, `${base}${spelt}`).not.toContain(secret);
        expect(answer).toMatch(/^HTTP\/1\.1 (200|303|400|404)/);
        if (/^HTTP\/1\.1 200/.test(answer))
          expect(answer, `${base}${spelt}`).toMatch(/content-type: text\/html/i);
      }
    }
  }
});
