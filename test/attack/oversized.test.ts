import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { agentNamed } from "../support/agents.js";
import { bearer, exchangeBytes, http, statusOf } from "../support/http.js";
import { type RunScene, runStage } from "../support/runs.js";

const KB = 1024;
const MESSAGE_BYTES = 256 * KB;
const stage = runStage(undefined, {
  config: (url) => ({ plugins: {}, agents: [agentNamed(url, "reader")] }),
  options: { limits: { messageBytes: MESSAGE_BYTES, batch: 100 } },
});
const door = () => stage.gateway();
const host = () => new URL(door().url).host;

/** Sends for as long as it is let. Answers how much was taken, and what came back. */
function pours(head: string, piece: Buffer, most: number): Promise<{ sent: number; got: string }> {
  const { hostname, port } = new URL(door().url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(head, more));
    let sent = 0;
    let got = "";
    const more = () => {
      if (socket.destroyed || sent >= most) return socket.end();
      sent += piece.length;
      socket.write(piece, more);
    };
    socket.on("data", (data) => {
      got += data;
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve({ sent, got }));
  });
}

/** However long something takes, others are answered meanwhile. Answers what came of it, and the longest they waited. */
async function meanwhile<T>(scene: RunScene, work: () => Promise<T>): Promise<{ done: T; waited: number }> {
  let going = true;
  let waited = 0;
  const wire = await door().wire();
  const asking = (async () => {
    while (going) {
      const begun = performance.now();
      await wire.call("ping");
      waited = Math.max(waited, performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  })();
  const done = await work();
  going = false;
  await asking;
  await scene.wire.result("ping", {});
  return { done, waited };
}

/** What a person would notice; a machine that tests is busy with other things too. */
const LONGEST_WAIT_MS = 5_000;

describe("requests", () => {
  const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(64 * KB, "x"), Buffer.from("\r\n")]);
  const posts = ["/rpc", "/mcp", "/v1/chat/completions"];

  test.each(posts)(
    "[ATK50] a body without an end at %s is given up after a few times the limit",
    async (path) => {
      const type = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
      const head = `POST ${path} HTTP/1.1\r\nHost: ${host()}\r\nAuthorization: ${bearer(door()).authorization}\r\n${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const { sent, got } = await pours(head, chunk, 400 * MESSAGE_BYTES);
      expect(sent).toBeLessThan(100 * MESSAGE_BYTES);
      if (got !== "") expect(got).toMatch(/^HTTP\/1\.1 (200|413)[\s\S]*(too.large|larger)/);
      expect((await http(`${door().url}/healthz`)).status).toBe(200);
    },
  );

  test("[ATK50] one that says how long it is, and is too long, is refused; without a token it is not even read", async () => {
    for (const [path, status] of [
      ["/rpc", 200],
      ["/mcp", 413],
      ["/v1/chat/completions", 413],
    ] as const) {
      const body = Buffer.alloc(MESSAGE_BYTES + 1, " ");
      const headers = { ...bearer(door()), "content-type": "application/json" };
      const answer = await http(door().url + path, { method: "POST", headers, body });
      expect({ path, status: answer.status }).toEqual({ path, status });
      expect(answer.text).toMatch(/request\.too_large|too large|larger/);
    }
    const head = `POST /rpc HTTP/1.1\r\nHost: ${host()}\r\nContent-Length: ${2 ** 40}\r\n\r\n`;
    // What is sent within a moment is thrown away; more than a machine can send in seconds would be an end that nobody sets.
    const most = 100_000 * MESSAGE_BYTES;
    const { sent, got } = await pours(head, chunk, most);
    expect(statusOf(got)).toBe(401);
    expect(sent).toBeLessThan(most);
  });

  test("[ATK51] headers and addresses past what a request can need are refused", async () => {
    const own = `Host: ${host()}\r\nConnection: close\r\n`;
    const many = Array.from({ length: 5_000 }, (_, at) => `x-${at}: x\r\n`).join("");
    for (const bytes of [
      `GET /healthz HTTP/1.1\r\n${own}x: ${"x".repeat(64 * KB)}\r\n\r\n`,
      `GET /healthz HTTP/1.1\r\n${own}${many}\r\n`,
      `GET /${"x".repeat(64 * KB)} HTTP/1.1\r\n${own}\r\n`,
      `GET /healthz HTTP/1.1\r\n${own}cookie: ${"a=b;".repeat(16 * KB)}\r\n\r\n`,
    ]) {
      const answer = await exchangeBytes(door().url, bytes).catch(() => "");
      expect([0, 400, 414, 431]).toContain(statusOf(answer));
    }
    expect((await http(`${door().url}/healthz`)).status).toBe(200);
  });

  test("[ATK52] nothing that is packed is unpacked because it asks to be", async () => {
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * KB, " "));
    expect(bomb.length).toBeLessThan(MESSAGE_BYTES);
    for (const encoding of ["gzip", "deflate", "br", "gzip, gzip"]) {
      const headers = { ...bearer(door()), "content-type": "application/json", "content-encoding": encoding };
      const { text } = await http(`${door().url}/rpc`, { method: "POST", headers, body: bomb });
      expect(JSON.parse(text).error.data.kind).toBe("parse_error");
    }
  });
});

describe("a WebSocket", () => {
  async function open(options = {}) {
    const address = `${door().url.replace("http", "ws")}/rpc`;
    const socket = new WebSocket(address, { headers: { ...bearer(door()) }, ...options });
    onTestFinished(() => socket.terminate());
    const closed = new Promise<number>((resolve) => socket.on("close", resolve));
    socket.on("error", () => {});
    await new Promise((resolve) => socket.once("open", resolve));
    // biome-ignore lint/suspicious/noExplicitAny: bytes that no client would send
    const raw = (socket as any)._socket as import("node:net").Socket;
    return { socket, closed, raw };
  }
  /** A frame as a client sends it, its mask zeros. */
  const frame = (first: number, payload: Buffer, length = payload.length) => {
    const size = Buffer.alloc(10);
    size[0] = first;
    size[1] = 0x80 | 127;
    size.writeBigUInt64BE(BigInt(length), 2);
    return Buffer.concat([size, Buffer.alloc(4), payload]);
  };

  test("[ATK52] is not packed, whatever the client offers, and a packed frame ends it", async () => {
    const { socket, closed, raw } = await open({ perMessageDeflate: true });
    expect(socket.extensions).toBe("");
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * KB, " "));
    raw.write(frame(0x80 | 0x40 | 1, bomb));
    expect(await closed).toBe(1002);
  });

  test("[ATK53] a frame that announces too much is refused at once, and so are pieces without end", async () => {
    const announced = await open();
    announced.raw.write(frame(0x81, Buffer.from("{"), 2 ** 40));
    expect(await announced.closed).toBe(1009);
    const pieces = await open();
    const one = Buffer.concat([frame(0x00, Buffer.from(" "))]);
    pieces.raw.write(
      Buffer.concat([frame(0x01, Buffer.from("[")), ...Array.from({ length: 40_000 }, () => one)]),
    );
    expect([1008, 1009]).toContain(await pieces.closed);
    const grown = await open();
    const large = Buffer.alloc(64 * KB, " ");
    grown.raw.write(frame(0x01, Buffer.from("[")));
    for (let at = 0; at < 8; at++) grown.raw.write(frame(0x00, large));
    expect(await grown.closed).toBe(1009);
  });
});

describe("content", () => {
  test("[ATK54] JSON that is deep, wide or many is refused or answered, and holds up nobody", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const call = (params: string) => `{"jsonrpc":"2.0","id":"x","method":"thread/update","params":${params}}`;
    const kinds: string[] = [];
    const { waited } = await meanwhile(scene, async () => {
      for (const text of [
        call("[".repeat(100_000) + "]".repeat(100_000)),
        call(`${'{"a":'.repeat(40_000)}1${"}".repeat(40_000)}`),
        call(
          `{"thread_id":"x","attributes":{${Array.from({ length: 15_000 }, (_, at) => `"k${at}":1`).join(",")}}}`,
        ),
        `[${Array.from({ length: 101 }, () => '{"jsonrpc":"2.0","id":1,"method":"ping"}').join(",")}]`,
        `[${"[],".repeat(50_000)}[]]`,
        `{"jsonrpc":"2.0","id":1,"method":"${"x".repeat(200_000)}"}`,
        `{"jsonrpc":"2.0","id":${"9".repeat(200_000)},"method":"ping"}`,
        call(`{"thread_id":"x","workspace_id":"${workspace_id}",${'"a":1,'.repeat(30_000)}"b":2}`),
      ]) {
        expect(text.length).toBeLessThan(MESSAGE_BYTES);
        const headers = { ...bearer(door()), "content-type": "application/json" };
        const answer = await http(`${door().url}/rpc`, { method: "POST", headers, body: text });
        expect(answer.status).toBe(200);
        expect(answer.text.length).toBeLessThan(4 * KB);
        kinds.push(JSON.parse(answer.text).error.data.kind);
      }
    });
    expect(new Set(kinds)).not.toContain("internal");
    expect(kinds.slice(0, 2)).toEqual(["request.too_deep", "request.too_deep"]);
    expect(kinds[3]).toBe("request.batch_too_large");
    expect(waited).toBeLessThan(LONGEST_WAIT_MS);
  });

  test("[ATK55] an archive that unpacks to more than is allowed leaves nothing behind", async () => {
    const scene = await stage.scene();
    const { wire, workspace_id } = scene;
    const { thread } = await wire.result("thread/start", { workspace_id });
    await wire.result("message/append", { thread_id: thread.id, message: { role: "user", content: "x" } });
    const before = scene.directories();
    const header = (name: string, size: number) => {
      const block = Buffer.alloc(512);
      block.write(name, 0);
      block.write("0000644\0", 100);
      block.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
      block.write("00000000000\0        0", 136);
      block.write("ustar\x0000", 257);
      const sum = block.reduce((all, byte) => all + byte, 0);
      block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
      return block;
    };
    const path = join(scene.root, "bomb.tar.gz");
    writeFileSync(path, gzipSync(header("t/messages.jsonl", 0o77777777777)));
    const { waited, done } = await meanwhile(scene, () => wire.call("thread/import", { workspace_id, path }));
    expect(done.error?.data.kind).toBe("atsf.archive_too_large");
    expect(waited).toBeLessThan(LONGEST_WAIT_MS);
    expect(scene.directories()).toEqual(before);
  });

  test("[ATK56] a pattern that takes for ever ends, and holds up nobody", async () => {
    const scene = await stage.scene();
    const { wire, workspace_id } = scene;
    scene.write("long.txt", `${"a".repeat(50_000)}!\n`.repeat(20));
    for (let at = 0; at < 20; at++) scene.write(`${"a".repeat(100)}/${"a".repeat(100)}${at}`, "x");
    await wire.result("thread/start", { workspace_id, title: "a".repeat(250) });
    const call = (name: string, given: object) =>
      wire.call("tool/call", { workspace_id, name, arguments: given });
    const words = "a ".repeat(500).trim();
    const { waited } = await meanwhile(scene, async () => {
      const headers = { ...bearer(door()), "content-type": "application/json" } as Record<string, string>;
      const given = { workspace_id, name: "files_search", arguments: { pattern: "(a+)+$", regex: true } };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tool/call", params: given });
      // It would look for ten seconds; whoever asked goes away sooner, and it ends with that.
      const asked = { method: "POST", headers, body, signal: AbortSignal.timeout(1_500) };
      await expect(fetch(`${door().url}/rpc`, asked)).rejects.toThrow();
      await call("files_search", { pattern: "x", include: `${"{a,b}".repeat(5)}**/${"*a".repeat(60)}b` });
      await call("files_list", { path: ".", glob: `${"**/".repeat(200)}${"*a*".repeat(200)}b`, depth: 5 });
      await call("views_query", { query: `${'tag:"a" -tag:"b" '.repeat(15)}${"a".repeat(2_000)}` });
      await call("notes_search", { query: words });
      await wire.call("thread/search", { workspace_id, query: words });
      await wire.call("thread/list", { workspace_id, query: "%a_".repeat(300) });
      await wire.call("tool/call", { workspace_id, name: "a".repeat(128), arguments: {} });
    });
    expect(waited).toBeLessThan(LONGEST_WAIT_MS);
  });
});
