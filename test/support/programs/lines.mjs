// Lines of a stream, for programs that are played. From Node 24 on its own reader also ends lines at U+2028, which JSON may hold.

/** A message as a line. `"@nested:5000"` in it becomes arrays so deep, which no writer of JSON would write. */
export function lineOf(message) {
  const deep = (_, levels) => "[".repeat(levels) + "]".repeat(levels);
  return `${JSON.stringify(message).replace(/"@nested:(\d+)"/g, deep)}\n`;
}

/** Tells of each line, and of the end. Half a line at the end is not told. */
export function onLines(stream, hear, ended = () => {}) {
  let rest = "";
  stream
    .setEncoding("utf8")
    .on("data", (text) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) hear(line);
    })
    .on("end", ended);
}
