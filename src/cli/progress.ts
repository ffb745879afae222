/** Tells how far something is while it goes on. */
export interface Progress {
  /** The present state, in place of the one before. */
  show(text: string): void;
  /** Takes the line away: what comes next stands alone. */
  end(): void;
}

const NARROWEST = 20;

/** A line on the terminal that is written over and over; in a pipe, and for programs, nothing. */
export function progressLine({ json }: { json?: boolean } = {}): Progress {
  const { stderr } = process;
  if (json || stderr.isTTY !== true) return { show: () => {}, end: () => {} };
  let shown = 0;
  const write = (text: string) => {
    stderr.write(`\r${text.padEnd(shown)}${text.length < shown ? `\r${text}` : ""}`);
    shown = text.length;
  };
  return {
    show(text) {
      const room = Math.max(NARROWEST, (stderr.columns || 80) - 1);
      write(text.length > room ? `${text.slice(0, room - 1)}…` : text);
    },
    end() {
      if (shown === 0) return;
      write("");
      stderr.write("\r");
    },
  };
}
