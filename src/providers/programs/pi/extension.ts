/**
 * What pi is extended by, as text: it is written to a file that pi loads at its start. It holds nothing of a thread. What a
 * turn needs is asked for through pi's own protocol each time, so that a kept process has the newest of it.
 */
export const EXTENSION = String.raw`import { request as plain } from "node:http";
import { request as secure } from "node:https";

const MOST_BYTES = 16 * 1024 * 1024;

export default function heddle(pi) {
  let turn = { own: false, instructions: "", tools: [] };
  const offered = new Map();
  const ask = (ctx, what, signal) => ctx.ui.input("heddle", JSON.stringify(what), { signal });

  // Asked for early: the answer is there when the turn begins.
  let next;
  const expectTurn = (ctx, over) => {
    next ??= ask(ctx, { what: "turn", over });
  };
  pi.on("session_start", (_event, ctx) => expectTurn(ctx, false));

  pi.on("before_agent_start", async (event, ctx) => {
    expectTurn(ctx, false);
    turn = JSON.parse(await next);
    next = undefined;
    ctx.ui.setStatus("heddle", "told");
    for (const tool of turn.tools) offer(tool);
    const names = turn.tools.map((tool) => tool.name);
    const others = turn.own ? pi.getActiveTools().filter((name) => !offered.has(name)) : [];
    pi.setActiveTools([...others, ...names]);
    if (turn.instructions === "") return undefined;
    const own = typeof event.systemPrompt === "string" ? event.systemPrompt : ctx.getSystemPrompt();
    return { systemPrompt: own + "\n\n" + turn.instructions };
  });

  pi.on("tool_call", async (event, ctx) => {
    if (turn.tools.some((tool) => tool.name === event.toolName)) return undefined;
    if (!turn.own) return { block: true, reason: "This tool is switched off." };
    const { toolCallId: id, toolName: name, input } = event;
    const answer = await ask(ctx, { what: "may", id, name, input }, ctx.signal);
    return answer === "allow" ? undefined : { block: true, reason: "The user did not allow this call." };
  });

  // Some versions repeat the whole message with each of its pieces, and all messages at the end.
  pi.on("message_update", (event) => {
    const piece = event.assistantMessageEvent;
    if (!piece) return;
    if (event.message && event.message !== piece.partial) written(event.message, () => ({ role: "assistant" }));
    written(piece, () => {
      const { partial, message, error, content, ...rest } = piece;
      const block = partial?.content?.[piece.contentIndex];
      return piece.type === "toolcall_start" ? { id: block?.id, toolName: block?.name, ...rest } : rest;
    });
  });
  pi.on("turn_end", (event) => written(event.toolResults, () => []));
  pi.on("agent_end", (event, ctx) => {
    const over = isOver(event.messages, ctx);
    written(event.messages, () => []);
    expectTurn(ctx, over);
  });

  function offer(tool) {
    const text = JSON.stringify(tool);
    if (offered.get(tool.name) === text) return;
    offered.set(tool.name, text);
    pi.registerTool({
      name: tool.name,
      label: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      execute: (_id, given, signal) => call(tool.as, given, signal),
    });
  }

  async function call(name, given, signal) {
    if (!turn.bridge) throw new Error("Heddle's tools can't be reached.");
    const id = 1;
    const body = { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: given } };
    const { result, error } = await exchange(turn.bridge, body, signal);
    if (error) throw new Error(error.message);
    const content = (result.content ?? []).map(part).filter((one) => one !== undefined);
    if (result.isError) throw new Error(content.map((one) => one.text ?? "").join("\n"));
    return { content, details: {} };
  }
}

/** Whether nothing can follow: no other attempt after an error, and no summary when there is plenty of room. */
function isOver(messages, ctx) {
  const last = messages.filter((message) => message.role === "assistant").at(-1);
  const { tokens, contextWindow } = ctx.getContextUsage?.() ?? {};
  const roomy = typeof tokens === "number" && tokens < contextWindow / 2;
  return roomy && (last?.stopReason === "stop" || last?.stopReason === "length");
}

/** How an object looks when it is written; nothing else that uses it sees a difference. */
function written(object, look) {
  if (typeof object !== "object" || object === null) return;
  Object.defineProperty(object, "toJSON", { value: look, enumerable: false, configurable: true });
}

function part(one) {
  if (one.type === "text") return { type: "text", text: one.text };
  if (one.type === "image") return { type: "image", data: one.data, mimeType: one.mimeType };
  if (one.type === "resource" && typeof one.resource?.text === "string") {
    return { type: "text", text: one.resource.text };
  }
  return undefined;
}

/** Not by fetch: it gives up after five minutes, and somebody may have to be asked first. */
function exchange({ url, token }, body, signal) {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify(body);
    const headers = {
      authorization: "Bearer " + token,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": Buffer.byteLength(text),
    };
    const send = new URL(url).protocol === "https:" ? secure : plain;
    const sent = send(url, { method: "POST", headers, signal }, (response) => {
      const chunks = [];
      let bytes = 0;
      response.on("data", (chunk) => {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) sent.destroy(new Error("Heddle's tool answered with too much."));
        else chunks.push(chunk);
      });
      response.on("error", reject);
      response.on("end", () => {
        const said = Buffer.concat(chunks).toString("utf8");
        const answer = answerIn(said, response.headers["content-type"] ?? "", body.id);
        if (answer) resolve(answer);
        else reject(new Error("Heddle's tools answered with status " + response.statusCode + "."));
      });
    });
    sent.on("error", reject);
    sent.end(text);
  });
}

function answerIn(said, type, id) {
  const texts = type.includes("text/event-stream") ? eventsIn(said) : [said];
  for (const text of texts) {
    try {
      const answer = JSON.parse(text);
      if (answer?.id === id && (answer.result || answer.error)) return answer;
    } catch {}
  }
  return undefined;
}

function eventsIn(said) {
  return said.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice(5).trimStart())
      .join("\n"),
  );
}
`;
