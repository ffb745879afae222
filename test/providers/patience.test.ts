import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { createProvider, type ProviderEvent } from "../../src/providers/index.js";
import { collect, failure, hello, ofType, onEachApi, textIn, turn } from "./support.js";

onEachApi("patience", ({ ask, server, provider, model }) => {
  test("[PROV40] what may pass is asked again, as often as allowed, and each time is told", async () => {
    const closes = turn({ cut: true });
    const refusals = [408, 425, 429, 500, 503].map((status) => turn({ status }));
    for (const bad of [...refusals, closes]) {
      server().forget();
      const events = await ask([bad, bad, turn({ text: "Hi" })]);
      expect(ofType(events, "retrying").map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(textIn(events)).toBe("Hi");
      expect(server().requests).toHaveLength(3);
    }
    const events = await ask([{ ...turn({ status: 500 }), repeat: true }]);
    expect(ofType(events, "retrying")).toHaveLength(2);
    expect(failure(events)).toMatchObject({ code: "provider.server_error", status: 500 });
  });

  test("[PROV40] so is an answer that breaks off or fails before its first word", async () => {
    const error = { type: "overloaded_error", message: "too much" };
    const cut = turn({ event: { type: "ping" } }, { cut: true });
    const events = await ask([cut, turn({ error }), turn({ text: "Hi" })]);
    expect(ofType(events, "retrying").map(({ code }) => code)).toEqual([
      "provider.broken_stream",
      "provider.overloaded",
    ]);
    expect(events.at(-1)).toMatchObject({ type: "finish" });
  });

  test("[PROV41] the server says how long to wait, within the limit", async () => {
    const wait = async (headers: Record<string, string>) => {
      const events = await ask([turn({ status: 429, headers }), turn({ text: "Hi" })]);
      return ofType(events, "retrying")[0]?.after_ms;
    };
    expect(await wait({ "retry-after": "0.02" })).toBe(20);
    expect(await wait({ "retry-after-ms": "7" })).toBe(7);
    expect(await wait({ "retry-after": "3600" })).toBe(50);
    expect(await wait({ "retry-after": new Date(Date.now() + 3_600_000).toUTCString() })).toBe(50);
    expect(await wait({ "retry-after": new Date(0).toUTCString() })).toBe(0);
    for (const nonsense of ["soon", "-5", "1e9x", ""])
      expect(await wait({ "retry-after": nonsense }), nonsense).toBeLessThanOrEqual(2);
  });

  test("[PROV42] after the first token nothing is asked again", async () => {
    const endings = [{ cut: true }, { error: { type: "overloaded_error", message: "m" } }] as const;
    for (const beginning of [{ text: "Hi" }, { thinking: "Hm" }]) {
      for (const ending of endings) {
        server().forget();
        const events = await ask([turn(beginning, ending), turn({ text: "again" })]);
        expect(failure(events).retryable).toBe(true);
        expect(ofType(events, "retrying")).toEqual([]);
        expect(server().requests).toHaveLength(1);
      }
    }
  });

  test("[PROV43] what can't pass is not asked again", async () => {
    const quota = { status: 429, body: { error: { code: "insufficient_quota", message: "m" } } };
    for (const bad of [
      { status: 400 },
      { status: 401 },
      { status: 404 },
      { status: 501 },
      { status: 503, headers: { "x-should-retry": "false" } },
      quota,
      { event: "no json" },
    ]) {
      server().forget();
      failure(await ask([turn(bad), turn({ text: "again" })]));
      expect(server().requests, JSON.stringify(bad)).toHaveLength(1);
    }
  });

  test("[PROV44] a server that does not begin is given up", async () => {
    const config = { timeouts: { firstTokenMs: 200 } };
    for (const silent of [
      turn({ hang: true }),
      turn({ raw: ": working\n\n" }, { hang: true }),
      turn({ event: { type: "ping" } }, { hang: true }),
    ]) {
      const events = await ask([silent], { config });
      expect(failure(events)).toMatchObject({
        code: "provider.timeout",
        phase: "first_token",
        retryable: true,
      });
      expect((await (await server().request(server().requests.length - 1)).closed).byClient).toBe(true);
    }
  });

  test("[PROV44] a server that falls silent is given up, though it drips or sends comments", async () => {
    const config = { timeouts: { silenceMs: 250 } };
    const comments = Array.from({ length: 400 }, () => [{ raw: ": alive\n\n" }, { delay_ms: 20 }]).flat();
    for (const silent of [
      turn({ text: "Hi" }, { hang: true }),
      turn({ text: "Hi" }, { drip: `data: {"never": "${"x".repeat(1_000)}`, every_ms: 20 }),
      turn({ text: "Hi" }, ...comments),
    ]) {
      const events = await ask([silent], { config });
      expect(textIn(events)).toBe("Hi");
      expect(failure(events)).toMatchObject({ code: "provider.timeout", phase: "silence" });
    }
  });

  test("[PROV44] a slow answer that goes on is not given up", async () => {
    const words = Array.from({ length: 12 }, (_, index) => [{ text: `${index} ` }, { delay_ms: 150 }]).flat();
    const events = await ask([turn(...words)], { config: { timeouts: { silenceMs: 1_500 } } });
    expect(events.at(-1)).toMatchObject({ type: "finish" });
    expect(ofType(events, "text")).toHaveLength(12);
  });

  test("[PROV45] an abort closes the connection, whenever it comes", async () => {
    const moments = [
      [turn({ hang: true }), "request"],
      [turn({ text: "Hi" }, { hang: true }), "text"],
      [turn({ thinking: "Hm" }, { hang: true }), "thinking"],
    ] as const;
    for (const [script, moment] of moments) {
      server().forget();
      server().play([script]);
      const stop = new AbortController();
      const events: ProviderEvent[] = [];
      for await (const event of provider().generate(hello(model), { signal: stop.signal })) {
        events.push(event);
        if (event.type !== moment) continue;
        const asked = await server().request(0);
        stop.abort();
        // The server sees it although nobody asks for the next event.
        expect((await asked.closed).byClient).toBe(true);
      }
      expect(events.at(-1)).toEqual({ type: "aborted" });
    }
  });

  test("[PROV45] an abort ends the wait between attempts", async () => {
    const stop = new AbortController();
    server().play([turn({ status: 429, headers: { "retry-after": "3600" } }), turn({ text: "again" })]);
    const events: ProviderEvent[] = [];
    const patient = provider({ retry: { longestWaitMs: 3_600_000 } });
    for await (const event of patient.generate(hello(model), { signal: stop.signal })) {
      events.push(event);
      if (event.type === "retrying") setTimeout(() => stop.abort(), 10);
    }
    expect(events.map(({ type }) => type)).toEqual(["request", "retrying", "aborted"]);
    expect(server().requests).toHaveLength(1);
  });

  test("[PROV45] what is aborted before it began is not sent", async () => {
    const events = await ask([turn({ text: "Hi" })], { signal: AbortSignal.abort() });
    expect(events).toEqual([{ type: "aborted" }]);
    expect(server().requests).toEqual([]);
  });

  test("[PROV46] who leaves the loop closes the connection", async () => {
    server().play([turn({ text: "Hi" }, { hang: true })]);
    for await (const event of provider().generate(hello(model))) if (event.type === "text") break;
    expect((await (await server().request(0)).closed).byClient).toBe(true);
  });

  test("[PROV47] one connection serves turn after turn", async () => {
    const answer = async () => {
      await ask([turn({ text: "Hi" }, { usage: { input: 3, output: 1 } })]);
      await new Promise((done) => setTimeout(done, 50));
    };
    // Connections that earlier tests broke are replaced first.
    for (let turns = 0; turns < 3; turns += 1) await answer();
    const before = server().connections();
    for (let turns = 0; turns < 4; turns += 1) await answer();
    expect(server().connections()).toBe(before);
  });

  test("[PROV48] a complete answer counts, though the server leaves the connection open", async () => {
    const usage = { input: 3, output: 1 };
    const config = { timeouts: { silenceMs: 800 } };
    const events = await ask([turn({ text: "Hi" }, { usage }, { again: "end" }, { hang: true })], { config });
    expect(events.slice(1)).toMatchObject([{ type: "text" }, { type: "usage" }, { type: "finish" }]);
  });
});

describe("connections", () => {
  async function listen(onSocket: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
    const server = createServer(onSocket);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return { server, port: (server.address() as AddressInfo).port };
  }

  test("[PROV44] a connection that does not come about is given up", async () => {
    const sockets: Socket[] = [];
    const { server, port } = await listen((socket) => sockets.push(socket.on("error", () => {})));
    const provider = createProvider({
      provider: "openai-compatible",
      // TLS never begins, so that the connection never stands.
      config: {
        baseURL: `https://127.0.0.1:${port}/v1`,
        timeouts: { connectMs: 300 },
        retry: { retries: 0 },
      },
    });
    const events = await collect(provider, hello());
    for (const socket of sockets) socket.destroy();
    server.close();
    expect(failure(events)).toMatchObject({ code: "provider.timeout", phase: "connect", retryable: true });
  });

  test("[PROV49] a kept connection that the server has closed meanwhile costs nothing but a new one", async () => {
    let requests = 0;
    const { server, port } = await listen((socket) => {
      socket.on("error", () => {});
      socket.on("data", () => {
        requests += 1;
        // The second request of a connection meets a server that is just closing it.
        if (requests === 2) return socket.resetAndDestroy();
        const body =
          'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    const baseURL = `http://127.0.0.1:${port}/v1`;
    const provider = createProvider({ provider: "openai-compatible", config: { baseURL } });
    const first = await collect(provider, hello());
    await new Promise((done) => setTimeout(done, 50));
    const second = await collect(provider, hello());
    server.close();
    expect(first.at(-1)).toMatchObject({ type: "finish" });
    expect(ofType(second, "retrying")).toMatchObject([{ attempt: 1, after_ms: 0 }]);
    expect(textIn(second)).toBe("Hi");
    expect(requests).toBe(3);
  });

  test("[PROV31] a server that speaks something else than HTTP is told as that", async () => {
    const { server, port } = await listen((socket) =>
      socket.on("error", () => {}).end("SSH-2.0-OpenSSH\r\n"),
    );
    const config = { baseURL: `http://127.0.0.1:${port}/v1`, retry: { retries: 0 } };
    const events = await collect(createProvider({ provider: "openai-compatible", config }), hello());
    server.close();
    expect(failure(events), failure(events).message).toMatchObject({ code: "provider.content_type" });
  });

  test("[PROV31] a certificate that is not trusted is told as that, and not tried again", async () => {
    const { server, port } = await listen((socket) =>
      socket.on("error", () => {}).end("no TLS here, sorry\r\n\r\n"),
    );
    const config = { baseURL: `https://127.0.0.1:${port}/v1` };
    const events = await collect(createProvider({ provider: "openai-compatible", config }), hello());
    server.close();
    expect(failure(events)).toMatchObject({ code: "provider.unreachable" });
    expect(failure(events).message).toContain("not secure");
    expect(ofType(events, "retrying")).toEqual([]);
  });
});
