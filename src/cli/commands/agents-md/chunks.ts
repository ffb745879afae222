const AT_ONCE = 16;
const WORTH_TELLING = 50;

/** Works through many things, some at once and in order, and shows on a terminal how far it is. */
export async function inChunks<T, R>(
  what: string,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const tell = process.stderr.isTTY === true && items.length >= WORTH_TELLING;
  const results: R[] = [];
  for (let at = 0; at < items.length; at += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + AT_ONCE).map(work))));
    if (tell) process.stderr.write(`\r${what} ${results.length} of ${items.length}`);
  }
  if (tell) process.stderr.write(`\r${" ".repeat(what.length + 30)}\r`);
  return results;
}
