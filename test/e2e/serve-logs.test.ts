import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sqliteDriver } from "../../src/base/index.js";
import { bearer, http, post, upgrade } from "../support/http.js";
import { HeddleProcess } from "../support/process.js";
import { administrate, onEachStore, type StorePlace } from "../support/stores.js";
import { Wire } from "../support/wire.js";

const CONTENT = "the-content-of-a-document";
const PASSWORD = "the-password-of-the-store";

onEachStore("logs", (kind) => {
  test("[WIRE140] a log at its most talkative has no token, cookie, code, document or password, whatever goes wrong", async () => {
    const place = await kind.fresh();
    onTestFinished(() => place.remove());
    const store = kind.name === "sqlite" ? place.store : withPassword(place.store);
    const heddle = new HeddleProcess(
      ["serve", "--port", "0", "--data", place.dataDir, "--store", store, "--token", "the-secret-token"],
      { HEDDLE_LOG: "trace" },
    );
    onTestFinished(() => heddle.end());
    const printed = await heddle.until(() => /http:\/\/\S+\?code=[\w-]+/.exec(heddle.stdout)?.[0]);
    const door = { url: new URL(printed).origin, token: "the-secret-token" };
    const cookie = (await http(printed)).headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
    expect(cookie).toContain("heddle_session_");

    const wire = await Wire.open(door.url, door.token);
    const workspace_id = (await wire.result("workspace/list", {})).data[0]?.id as string;
    await wire.result("thread/agents_doc/save", { workspace_id, content: CONTENT });
    await wire.error("thread/agents_doc/save", { workspace_id, content: CONTENT, expected_version: 9 });
    await wire.error("thread/agents_doc/save", { workspace_id, content: `${CONTENT}\0` });
    await post(door, `{"content":"${CONTENT}`);
    await http(`${door.url}/metrics`, { headers: { cookie } });
    await http(`${door.url}/metrics?token=the-secret-token`, {
      headers: { authorization: "Bearer the-wrong-token" },
    });
    await upgrade(`${door.url}/rpc`, { ...bearer(door), origin: "https://evil.example" });
    await upgrade(`${door.url}/rpc`, { authorization: "Bearer the-wrong-token" });
    wire.socket.send(Buffer.from([0xff]), { binary: false });
    await wire.closed();
    await breakStore(place);
    const { text } = await post(door, {
      jsonrpc: "2.0",
      id: 1,
      method: "thread/agents_doc/save",
      params: { workspace_id, content: `${CONTENT} 2` },
    });
    const { error } = JSON.parse(text);
    expect(error).toMatchObject({ code: -32600, data: { kind: "internal", reference: expect.any(String) } });
    expect(error.message).toContain(error.data.reference);
    expect(text).not.toContain(CONTENT);
    heddle.signal("SIGTERM");
    expect((await heddle.exited).code).toBe(0);

    const logged = heddle.stderr;
    expect(logged).toContain("ready");
    expect(logged).toContain(error.data.reference);
    for (const secret of [
      "the-secret-token",
      "the-wrong-token",
      cookie.split("=")[1] as string,
      printed.split("code=")[1] as string,
      CONTENT,
      PASSWORD,
    ]) {
      expect(logged).not.toContain(secret);
    }
    for (const line of logged.trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number) });
  });
});

function withPassword(store: string): string {
  const url = new URL(store);
  url.password = PASSWORD;
  return url.href;
}

/** Makes the next save fail in a way nobody foresaw, with its values at hand. */
async function breakStore({ store, dataDir }: StorePlace): Promise<void> {
  if (store !== "sqlite") {
    await administrate(
      "alter table thread_agents_doc add constraint none check (content is null) not valid",
      store,
    );
    return;
  }
  const handle = sqliteDriver().open(join(dataDir, "heddle.db"));
  handle.exec("create trigger none before update on thread_agents_doc begin select raise(abort, 'no'); end");
  handle.close();
}
