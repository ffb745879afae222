import OpenAI from "openai";
import { expect, test } from "vitest";
import { agentAt, apis, runStage, says } from "../support/runs.js";

const LIMIT = 64 * 1024;
const small = runStage(undefined, {
  config: (url) => ({ agents: [agentAt(url, apis[0], { agentId: "helper" })] }),
  options: { limits: { messageBytes: LIMIT, depth: 16, inFlight: 1 } },
});
const slow = runStage(undefined, {
  config: (url) => ({ agents: [agentAt(url, apis[0], { agentId: "helper" })] }),
  options: { limits: { rate: 0.001, burst: 20 } },
});

const clientOf = ({ url, token }: { url: string; token: string }) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 });

test("[CCE17] a body that is too large, too deep or no JSON is refused", async () => {
  const { url, token } = small.gateway();
  const post = async (body: string) => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body,
    });
    return { status: response.status, body: await response.json() };
  };
  const shape = { error: { message: expect.any(String), type: "invalid_request_error" } };
  expect(await post(`{"x":"${"y".repeat(LIMIT)}"}`)).toMatchObject({ status: 413, body: shape });
  expect(await post("{")).toMatchObject({ status: 400, body: shape });
  expect(await post(`${"[".repeat(40)}${"]".repeat(40)}`)).toMatchObject({ status: 400, body: shape });
  expect(await post("null")).toMatchObject({ status: 400, body: shape });
});

test("[CCE17] more answers at once than there may be are refused with when to try again", async () => {
  const client = clientOf(small.gateway());
  const ask = () =>
    client.chat.completions.create({ model: "helper", messages: [{ role: "user", content: "hi" }] });
  small.model().play([{ steps: [{ gate: "room" }, { text: "Done." }] }]);
  const first = ask();
  await small.model().request(0);
  const refused = await ask().catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, code: "overloaded" });
  expect((refused as { headers: Headers }).headers.get("retry-after")).toBe("1");
  small.model().open("room");
  expect((await first).choices[0]?.message.content).toBe("Done.");
  small.model().play([says("Again.")]);
  expect((await ask()).choices[0]?.message.content).toBe("Again.");
});

test("[CCE17] too many requests are refused with when to try again", async () => {
  const client = clientOf(slow.gateway());
  const refused = await (async () => {
    for (let times = 0; times < 60; times++) await client.models.list();
    return undefined;
  })().catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429 });
});
