const NAME = "found";
const MOST_RANGES = 500;

/** Marks words in the messages that are drawn, without touching them. Returns a function that ends it. */
export function paintMatches(query: string): () => void {
  const words = query.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const box = document.querySelector(".scroll");
  if (words.length === 0 || !box || !("highlights" in CSS)) return () => {};
  const paint = () => CSS.highlights.set(NAME, new Highlight(...rangesOf(box, words)));
  let planned = 0;
  const again = () => {
    cancelAnimationFrame(planned);
    planned = requestAnimationFrame(paint);
  };
  const observer = new MutationObserver(again);
  observer.observe(box, { childList: true, subtree: true, characterData: true });
  paint();
  return () => {
    observer.disconnect();
    cancelAnimationFrame(planned);
    CSS.highlights.delete(NAME);
  };
}

function rangesOf(box: Element, words: readonly string[]): Range[] {
  const ranges: Range[] = [];
  const texts = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node && ranges.length < MOST_RANGES; node = texts.nextNode()) {
    const text = (node.nodeValue ?? "").toLowerCase();
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
