const LONGEST = 64;

/** The known word that was probably meant; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > LONGEST) return undefined;
  const given = plain(word);
  const most = Math.max(1, Math.floor(given.length / 3));
  const [best] = known
    .filter((candidate) => candidate.length <= LONGEST)
    .map((candidate) => ({ candidate, far: distance(given, plain(candidate)) }))
    .filter(({ far }) => far <= most)
    .sort((one, other) => one.far - other.far);
  return best?.candidate;
}

/** `tool_allowList` and `toolAllowlist` are the same mistake away from nothing. */
function plain(word: string): string {
  return word.replaceAll(/[_-]/g, "").toLowerCase();
}

/** How many characters must be put in, left out or replaced. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] as number) + (other[j] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    row = next;
  }
  return row.at(-1) as number;
}
