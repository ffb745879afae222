import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { holdStore } from "../support/hold-store.js";
import { HeddleProcess } from "../support/process.js";
import { onEitherStore, type StorePlace } from "../support/stores.js";

onEitherStore("stdio", (kind) => {
  let place: StorePlace;
  let heddle: HeddleProcess;
  beforeEach(async () => {
    place = await kind.fresh();
    heddle = new HeddleProcess(["serve", "--stdio", "--data", place.dataDir, "--store", place.store], {
      HEDDLE_LOG: "debug",
    });
  });
  afterEach(async () => {
    await heddle.end();
    await place.remove();
  });

  const request = (id: unknown, method: string, params?: unknown) =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const home = async () => (await heddle.call("workspace/list", {})).result.data[0].id;

  test("[WIRE120] stdio takes a message a line, answers a line each, and needs no token", async () => {
    expect((await heddle.call("ping")).result.server.name).toBe("heddle");
    heddle.write(
      `\n  \n${request(1, "ping")}\r\n\t${request(2, "ping")} \n[${request(3, "ping")},${request(4, "ping")}]\n`,
    );
    await heddle.answerTo(2);
    await heddle.until(() => heddle.messages().find(Array.isArray));
    const ids = heddle
      .messages()
      .slice(1)
      .map((message) => (Array.isArray(message) ? message.map(({ id }) => id) : message.id));
    expect(ids).toEqual([1, 2, [3, 4]]);
    expect(heddle.stdout.endsWith("\n")).toBe(true);
  });

  test("[WIRE120] a message may come in any pieces, and a line break within text is escaped", async () => {
    const workspace_id = await home();
    const content = "two\nlines é😀\u2028";
    const bytes = Buffer.from(`${request("pieces", "thread/agents_doc/save", { workspace_id, content })}\n`);
    for (const byte of bytes) heddle.write(Uint8Array.of(byte));
    expect((await heddle.answerTo("pieces")).result.doc.content).toBe(content);
    const told = await heddle.until(() =>
      heddle.messages().find(({ method }) => method === "thread/agents_doc/changed"),
    );
    expect(told.params.doc.content).toBe(content);
  });

  test("[WIRE121] a line past the limit is refused and the next one works", async () => {
    heddle.write('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"');
    for (let i = 0; i < 17; i++) heddle.write("x".repeat(1024 * 1024));
    heddle.write(`"}}\n${request("next", "ping")}\n`);
    expect((await heddle.answerTo("next")).error).toBeUndefined();
    expect(heddle.messages()[0]).toMatchObject({
      id: null,
      error: { code: -32600, data: { kind: "request.too_large" } },
    });
    expect(heddle.messages()).toHaveLength(2);
  });

  test("[WIRE122] stdio opens no port and leaves no address", async () => {
    await heddle.call("ping");
    expect(existsSync(join(place.dataDir, "gateway.json"))).toBe(false);
    expect(listeningPorts(heddle.pid)).toEqual([]);
  });

  test("[WIRE123] when its input ends it answers all that was asked and exits with 0", async () => {
    const workspace_id = await home();
    for (let i = 0; i < 100; i++)
      heddle.write(`${request(i, "thread/folder/create", { workspace_id, name: `f${i}` })}\n`);
    heddle.write(request("last, without a line end", "ping"));
    heddle.endInput();
    expect(await heddle.exited).toEqual({ code: 0, signal: null });
    const ids = heddle
      .messages()
      .filter(({ method }) => method === undefined)
      .map(({ id }) => id);
    expect(ids.slice(1).sort()).toEqual([...Array(100).keys(), "last, without a line end"].sort());
    expect(heddle.messages().filter(({ error }) => error)).toEqual([]);
  });

  test("[WIRE123] an input that ends at once, or in the middle of a message, is an end like any other", async () => {
    await heddle.call("ping");
    heddle.write('{"jsonrpc":"2.0","id":1,"me');
    heddle.endInput();
    expect((await heddle.answerTo(null)).error).toMatchObject({ code: -32700 });
    expect((await heddle.exited).code).toBe(0);
  });

  test("[WIRE124] a signal lets requests under way be answered and exits with 0", async () => {
    const workspace_id = await home();
    const release = await holdStore(place);
    onTestFinished(release);
    heddle.write(
      `${request("slow", "thread/folder/create", { workspace_id, name: "f" })}\n${request("mark", "ping")}\n`,
    );
    await heddle.answerTo("mark");
    heddle.signal("SIGTERM");
    await expect
      .poll(async () => (await heddle.call("ping")).error?.data.kind, { timeout: 10_000 })
      .toBe("stopping");
    await release();
    expect(await heddle.exited).toEqual({ code: 0, signal: null });
    expect(heddle.messages().find(({ id }) => id === "slow")?.result.folder.name).toBe("f");
  });
});

/** The TCP ports a process listens on, where the system tells. */
function listeningPorts(pid: number): string[] {
  if (!existsSync(`/proc/${pid}/net/tcp`)) return [];
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => {
    try {
      return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1];
    } catch {
      return undefined;
    }
  });
  const own = new Set(sockets.filter(Boolean));
  return ["tcp", "tcp6"].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, "utf8")
      .split("\n")
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === "0A" && own.has(fields[9]))
      .map((fields) => fields[1] as string),
  );
}
