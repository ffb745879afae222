import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { request as ask, createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type Around, aroundHere } from "../../src/app/look-around.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { agentIds, told } from "../support/live-config.js";
import { startModelServer } from "../support/model-server/server.js";
import { RunScene, says } from "../support/runs.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";
import { projectDirectory } from "../support/threads.js";

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.stop();
  gateway = undefined;
});

async function open(around: Partial<Around>): Promise<TestGateway> {
  gateway = await startGateway(sqliteStore, { around: { servers: [], path: "", ...around } });
  return gateway;
}

/** A server on loopback, and its address. */
async function listening(answer: RequestListener): Promise<string> {
  const server: Server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const models =
  (...ids: unknown[]): RequestListener =>
  (_request, response) =>
    void response.end(JSON.stringify({ object: "list", data: ids.map((id) => ({ id })) }));

const local = (url: string) => [{ agentId: "ollama", displayName: "Ollama", baseURL: `${url}/v1` }];

describe("servers", () => {
  test("[CFG10] one that lists models is an agent with the first of them that can answer", async () => {
    const url = await listening(models("nomic-embed-text", "qwen3:8b", "llama4"));
    const { wire } = await open({ servers: local(url) });
    const { data } = await (await wire()).result("agent/list", {});
    expect(data.map(({ agent_id }) => agent_id)).toEqual(["ollama", "demo", "demo-notes"]);
    expect(data[0]).toMatchObject({
      display_name: "Ollama",
      description: `A general assistant with qwen3:8b, which Ollama runs at ${url}.`,
      provider: "openai-compatible",
      model: "qwen3:8b",
      available: true,
      origin: "detected",
    });
  });

  test("[CFG10] it can be asked, and answers when nobody is chosen", async () => {
    const model = await startModelServer([says("from the machine itself")]);
    onTestFinished(() => model.close());
    const url = await listening((request, response) => {
      if (request.url === "/v1/models") return models("own")(request, response);
      const headers = { "content-type": "application/json" };
      const onwards = ask(`${model.url}${request.url}`, { method: "POST", headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onwards);
    });
    const scene = await RunScene.over(await open({ servers: local(url) }), model, projectDirectory());
    expect(await agentIds(scene.wire)).toEqual(["ollama", "demo", "demo-notes"]);
    const { thread } = await scene.wire.result("thread/start", { workspace_id: scene.workspace_id });
    expect(thread.agent_id).toBe("ollama");
    await scene.answered(thread.id, "hello");
    expect(JSON.parse(await scene.received(0)).model).toBe("own");
  });

  test("[CFG15] what was started since the last look is there at once for who has it looked for again", async () => {
    let answers: RequestListener = (_request, response) => void response.writeHead(503).end();
    const url = await listening((request, response) => answers(request, response));
    const wire = await (await open({ servers: local(url) })).wire();
    expect(await agentIds(wire)).toEqual(["demo", "demo-notes"]);
    answers = models("qwen3:8b");
    expect(await agentIds(wire)).toEqual(["demo", "demo-notes"]);
    const again = await Promise.all([1, 2, 3].map(() => wire.result("agent/list", { look_again: true })));
    for (const { data } of again)
      expect(data.map(({ agent_id, default: usual }) => [agent_id, usual])).toEqual([
        ["ollama", true],
        ["demo", undefined],
        ["demo-notes", undefined],
      ]);
  });

  test("[CFG11] what hangs delays nothing but the list, and that for a second; what is no such server is not there", async () => {
    const strange: Record<string, RequestListener> = {
      silent: () => {},
      endless: (_request, response) => void setInterval(() => response.write(" ".repeat(65_536)), 1).unref(),
      elsewhere: (_request, response) => void response.writeHead(302, { location: "/other" }).end(),
      failing: (_request, response) => void response.writeHead(500).end('{"data": [{"id": "a"}]}'),
      "no JSON": (_request, response) => void response.end("<html>"),
      "another shape": (_request, response) => void response.end('{"data": {"id": "a"}}'),
      nothing: (_request, response) => void response.end("null"),
      "no models": models(),
      "hostile names": models("\u001b[2J", "a b", "x".repeat(256), 7, null),
      "embeddings only": models("all-minilm-embed"),
      broken: (request) => void request.socket.destroy(),
    };
    const servers = await Promise.all(
      Object.values(strange).map(async (answer, index) => ({
        agentId: `strange-${index}`,
        displayName: "Strange",
        baseURL: `${await listening(answer)}/v1`,
      })),
    );
    const opened = await open({ servers });
    const wire = await opened.wire();
    let isListed = false;
    const began = performance.now();
    const listing = agentIds(wire).finally(() => {
      isListed = true;
    });
    await wire.result("thread/start", { workspace_id: opened.home });
    expect(isListed).toBe(false);
    expect(await listing).toEqual(["demo", "demo-notes"]);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  test("[CFG12] nothing is looked for while the configuration names agents, and at once when it does not any more", async () => {
    let asked = 0;
    const url = await listening((request, response) => {
      asked++;
      models("m")(request, response);
    });
    const configFile = join(temporaryDirectory(), "c.json");
    writeFileSync(configFile, JSON.stringify({ agents: [{ agentId: "own", chat: { provider: "demo" } }] }));
    gateway = await startGateway(sqliteStore, { configFile, around: { servers: local(url), path: "" } });
    const wire = await gateway.wire();
    await wire.result("subscribe", { workspace_id: gateway.home });
    expect(await agentIds(wire)).toEqual(["own"]);
    expect(asked).toBe(0);
    await told(wire, () => writeFileSync(configFile, "{}"));
    expect(await agentIds(wire)).toEqual(["ollama", "demo", "demo-notes"]);
  });

  test("[CFG13] where Ollama is, as its own variable says it", () => {
    const ollama = (OLLAMA_HOST?: string) =>
      aroundHere({ ...(OLLAMA_HOST !== undefined && { OLLAMA_HOST }) }).servers.find(
        ({ agentId }) => agentId === "ollama",
      )?.baseURL;
    expect(ollama()).toBe("http://127.0.0.1:11434/v1");
    expect(ollama("")).toBe("http://127.0.0.1:11434/v1");
    expect(ollama("0.0.0.0")).toBe("http://127.0.0.1:11434/v1");
    expect(ollama("0.0.0.0:8080")).toBe("http://127.0.0.1:8080/v1");
    expect(ollama(":9000")).toBe("http://127.0.0.1:9000/v1");
    expect(ollama("gpu.local")).toBe("http://gpu.local:11434/v1");
    expect(ollama("gpu.local:1")).toBe("http://gpu.local:1/v1");
    expect(ollama("https://gpu.example.com/ollama/")).toBe("https://gpu.example.com/ollama/v1");
    expect(ollama("http://[")).toBeUndefined();
    expect(aroundHere({}).servers.map(({ agentId }) => agentId)).toEqual(["ollama", "lmstudio"]);
    expect(aroundHere({ HEDDLE_DETECT: "off", PATH: "/bin" })).toEqual({ servers: [], path: "" });
  });
});

test("[CFG14] programs on the PATH are agents, and a look starts none of them", async () => {
  const dir = temporaryDirectory();
  const empty = temporaryDirectory();
  const mark = join(dir, "started");
  for (const name of ["claude", "codex", "pi", "gemini", "opencode", "bystander"]) {
    writeFileSync(join(dir, name), `#!/bin/sh\ntouch ${mark}\n`);
    chmodSync(join(dir, name), 0o755);
  }
  mkdirSync(join(empty, "claude"));
  writeFileSync(join(empty, "codex"), "no program");
  const { wire } = await open({ path: `relative:${empty}:${dir}` });
  const { data } = await (await wire()).result("agent/list", {});
  expect(data.map(({ agent_id, provider, available }) => [agent_id, provider, available])).toEqual([
    ["claude", "claude-cli", true],
    ["codex", "codex-cli", true],
    ["pi", "pi-cli", true],
    ["gemini", "acp", true],
    ["opencode", "acp", true],
    ["demo", "demo", true],
    ["demo-notes", "demo", true],
  ]);
  expect(data[0]?.description).toContain(join(dir, "claude"));
  expect(existsSync(mark)).toBe(false);
});
