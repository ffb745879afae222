const MOST_SHOWN = 100;

/** A text of somebody else's within a sentence of ours: bounded, on one line, free of half characters. */
export function quoted(text: string): string {
  return JSON.stringify(clipped(text, MOST_SHOWN));
}

export function clipped(text: string, most: number): string {
  return (text.length > most ? `${text.slice(0, most)}…` : text).toWellFormed();
}
