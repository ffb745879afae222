// A model that has its answer ready: Chat Completions over HTTP, the same stream for every request. It reads what it is
// asked and looks at nothing of it, so that what is measured is whoever asks.
import { createServer } from "node:http";

const [characters = "512", pieces = "8"] = process.argv.slice(2);
const answer = streamOf(Number(characters), Number(pieces));
const headers = { "content-type": "text/event-stream", "content-length": answer.length };

const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, headers).end(answer));
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${server.address().port}\n`));

function streamOf(length, count) {
  const chunk = (more) =>
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", ...more })}\n\n`;
  const delta = (content, finish_reason = null) =>
    chunk({ choices: [{ index: 0, delta: content, finish_reason }] });
  const text = "Some words that a model might say. ".repeat(length).slice(0, length);
  const size = Math.ceil(length / count);
  const said = Array.from({ length: count }, (_, at) => text.slice(at * size, (at + 1) * size));
  return Buffer.from(
    [
      delta({ role: "assistant", content: "" }),
      ...said.map((content) => delta({ content })),
      delta({}, "stop"),
      chunk({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
      "data: [DONE]\n\n",
    ].join(""),
  );
}
