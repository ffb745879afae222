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

/** How many characters must be put in, left out or replaced, or change places with the next one. */
function distance(one: string, other: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] as number) + (other[j] === one[i] ? 0 : 1);
      const turned = i > 0 && j > 0 && one[i] === other[j - 1] && one[i - 1] === other[j];
      const swapped = turned ? (before[j - 1] as number) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j + 1] as number) + 1, (next[j] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row.at(-1) as number;
}
