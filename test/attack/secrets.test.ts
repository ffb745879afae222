import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { marks, SecretsScene, words } from "./secrets-scene.js";

let scene: SecretsScene;
beforeAll(async () => {
  scene = await SecretsScene.make();
  await scene.provoke();
}, 120_000);
afterAll(() => scene?.remove());

/** Secrets in a text, by name, with what stands before each. Also as JSON, an address or base64 would write them. */
function found(text: string, secrets: Readonly<Record<string, string>> = marks): string[] {
  return Object.entries(secrets).flatMap(([name, secret]) => {
    const forms = [secret, encodeURIComponent(secret), Buffer.from(secret).toString("base64").slice(0, -4)];
    const at = forms.map((form) => text.indexOf(form)).find((place) => place >= 0);
    return at === undefined ? [] : [`${name}: …${text.slice(Math.max(0, at - 160), at)}`];
  });
}

test("[ATK40] no log holds a secret or what somebody said, at its most talkative, whatever fails", () => {
  const log = scene.process.stderr;
  expect(log.split("\n").length).toBeGreaterThan(5);
  expect(found(log, { ...marks, ...words })).toEqual([]);
});

test("[ATK41] no prompt holds a secret: a key goes in its header and nowhere else", () => {
  const { requests } = scene.model;
  expect(requests.length).toBeGreaterThan(15);
  expect(requests.some(({ headers }) => String(headers.authorization).includes(marks.filled))).toBe(true);
  expect(found(requests.map(({ body, path }) => `${path} ${body}`).join("\n"))).toEqual([]);
});

test("[ATK42] no file of a thread or a project holds a secret", () => {
  const files = scene.files(scene.root);
  expect(
    files.map(([path]) => path).filter((path) => path.endsWith("messages.jsonl")).length,
  ).toBeGreaterThan(15);
  expect(
    files.flatMap(([path, bytes]) => found(bytes.toString("latin1")).map((one) => `${path} ${one}`)),
  ).toEqual([]);
});

test("[ATK43] nothing that is answered, told or served holds a secret", () => {
  expect(scene.told.length).toBeGreaterThan(100);
  expect(scene.told.flatMap((text) => found(text).map((one) => one.slice(0, 300)))).toEqual([]);
  expect(scene.told.join("\n")).toContain(words.answer);
});

test("[ATK44] nothing that is kept holds a secret but the configuration, and the address of who runs", () => {
  const files = scene.files(scene.data, ["heddle.config.json", "gateway.json"]);
  expect(files.map(([path]) => path)).toContain(join(scene.data, "heddle.db"));
  expect(
    files.flatMap(([path, bytes]) => found(bytes.toString("latin1")).map((one) => `${path} ${one}`)),
  ).toEqual([]);
});

test("[ATK45] an accident leaves no secret behind: not in what is written when it dies, nor in Node's report", async () => {
  const left = await scene.crash();
  expect(left).toContain("an accident");
  expect(left).toContain("javascriptStack");
  expect(found(left, { ...marks, ...words })).toEqual([]);
});
