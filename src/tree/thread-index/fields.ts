/** A title as search compares it: the same on both stores, whatever they know of letters. */
export function foldTitle(title: string): string {
  return title.normalize("NFKC").toLowerCase();
}
