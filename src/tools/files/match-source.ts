/**
 * What runs in the thread that compares. A text, because a thread starts from a file that is there in every build, or from
 * a text; the command is built into one file. It may use nothing from outside.
 */
export const MATCH_SOURCE = `
const { parentPort, workerData } = require("node:worker_threads");
const { source, flags, literal, around } = workerData;
const pattern = new RegExp(source, flags);
const decoder = new TextDecoder();

const shownOf = (line, at) => {
  const from = at > around ? at - around : 0;
  const to = Math.min(line.length, from + 3 * around);
  return (from > 0 ? "\\u2026" : "") + line.slice(from, to) + (to < line.length ? "\\u2026" : "");
};

const linesOf = (bytes, most) => {
  const found = [];
  if (bytes.includes(0)) return { binary: true, found };
  const text = decoder.decode(bytes);
  if (literal !== undefined && !text.includes(literal)) return { binary: false, found };
  for (let start = 0, number = 1; start < text.length && found.length <= most; number++) {
    const next = text.indexOf("\\n", start);
    const end = next < 0 ? text.length : next;
    const line = text.slice(start, text[end - 1] === "\\r" && end > start ? end - 1 : end);
    const match = pattern.exec(line);
    if (match) found.push({ number, text: shownOf(line, match.index) });
    start = end + 1;
  }
  return { binary: false, found };
};

parentPort.on("message", ({ files, most }) => {
  let left = most;
  const answers = files.map((bytes) => {
    const answer = linesOf(bytes, left);
    left = Math.max(0, left - answer.found.length);
    return answer;
  });
  parentPort.postMessage(answers);
});
`;
