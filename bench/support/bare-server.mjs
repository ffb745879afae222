// A WebSocket server that answers each message with the same text. A message that is a list of texts goes, text by
// text, to every connection, the sender's first.
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("listening", () => process.stdout.write(`${server.address().port}\n`));
server.on("connection", (socket) => {
  socket.on("message", (data) => {
    const text = data.toString();
    if (text.startsWith("[")) broadcast(socket, JSON.parse(text));
    else socket.send(text);
  });
});

function broadcast(sender, texts) {
  for (const text of texts) {
    sender.send(text);
    for (const socket of server.clients) if (socket !== sender) socket.send(text);
  }
}
