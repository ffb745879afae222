/** Longer names are compared by their beginning: what a model makes up has no bound. */
const MOST_COMPARED = 64;

/** The known name that is most like a given one, whatever the order of its words; the first of several that are. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  const wanted = given.slice(0, MOST_COMPARED).toLowerCase();
  let best: { name: string; distance: number } | undefined;
  for (const name of [...known].sort()) {
    const distance = Math.min(distanceOf(wanted, name), distanceOf(byWord(wanted), byWord(name)));
    if (!best || distance < best.distance) best = { name, distance };
  }
  return best?.name;
}

function byWord(name: string): string {
  return name
    .split(/[^a-z0-9]+/)
    .sort()
    .join("_");
}

/** How many letters must be added, taken away or changed to make one of the other. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((next[j - 1] as number) + 1, (row[j] as number) + 1, change));
    }
    row = next;
  }
  return row[b.length] as number;
}
