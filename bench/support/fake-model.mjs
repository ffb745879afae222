// A model that has its answers ready: the same words for every request, as Chat Completions, or in the streams that Claude
// Code and Codex ask for. It reads what it is asked and looks at nothing but the address, so that what is measured is
// whoever asks.
import { createServer } from "node:http";

const [characters = "512", pieces = "8", thinksMs = "0"] = process.argv.slice(2);
const said = piecesOf(Number(characters), Number(pieces));

const chat = streamed(chatOf(said));
const others = {
  "/v1/messages": streamed(messagesOf(said)),
  "/v1/messages/count_tokens": told({ input_tokens: 1 }),
  "/v1/responses": streamed(responsesOf(said)),
};

const server = createServer((request, response) => {
  const { headers, body } = others[request.url.split("?", 1)[0]] ?? chat;
  const answer = () => response.writeHead(200, headers).end(body);
  request.resume().on("end", thinksMs === "0" ? answer : () => setTimeout(answer, Number(thinksMs)));
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));

function streamed(frames) {
  return ready("text/event-stream", frames.join(""));
}

function told(answer) {
  return ready("application/json", JSON.stringify(answer));
}

function ready(type, text) {
  const body = Buffer.from(text);
  return { headers: { "content-type": type, "content-length": body.length }, body };
}

function piecesOf(length, count) {
  const text = "Some words that a model might say. ".repeat(length).slice(0, length);
  const size = Math.ceil(length / count);
  return Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size));
}

function chatOf(words) {
  const chunk = (more) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;
  const delta = (content, finish_reason = null) =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason }] });
  return [
    delta({ role: "assistant", content: "" }),
    ...words.map((content) => delta({ content })),
    delta({}, "stop"),
    chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    "data: [DONE]\n\n",
  ];
}

/** Anthropic's Messages. */
function messagesOf(words) {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], usage };
  const at = { index: 0 };
  return [
    named({ type: "message_start", message }),
    named({ type: "content_block_start", ...at, content_block: { type: "text", text: "" } }),
    ...words.map((text) =>
      named({ type: "content_block_delta", ...at, delta: { type: "text_delta", text } }),
    ),
    named({ type: "content_block_stop", ...at }),
    named({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage }),
    named({ type: "message_stop" }),
  ];
}

/** OpenAI's Responses. */
function responsesOf(words) {
  const item = { type: "message", id: "msg_1", role: "assistant" };
  const content = [{ type: "output_text", text: words.join(""), annotations: [] }];
  const at = { output_index: 0 };
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  };
  return [
    { type: "response.created", response: { id: "resp_1", created_at: 1, model: "m" } },
    { type: "response.output_item.added", ...at, item: { ...item, content: [] } },
    ...words.map((delta) => ({
      type: "response.output_text.delta",
      ...at,
      item_id: item.id,
      content_index: 0,
      delta,
    })),
    { type: "response.output_item.done", ...at, item: { ...item, status: "completed", content } },
    { type: "response.completed", response: { id: "resp_1", incomplete_details: null, usage } },
  ].map((frame, sequence_number) => named({ ...frame, sequence_number }));
}

function named(frame) {
  return `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`;
}
