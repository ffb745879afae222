const TELL_EVERY_MS = 200;
const MOST_PIECE_BYTES = 8 * 1024;
const MOST_SHOWN_BYTES = 512 * 1024;

export interface ShownOutput {
  add(chunk: Buffer): void;
  /** Tells what is left, and nothing after that. */
  end(): void;
}

/** Shows output while it comes: a few pieces a second, each bounded, and no more in all than anybody reads. */
export function showOutput(progress: ((text: string) => void) | undefined): ShownOutput {
  if (!progress) return { add() {}, end() {} };
  const decoder = new TextDecoder();
  let pieces: Buffer[] = [];
  let held = 0;
  let dropped = 0;
  let shown = 0;
  const tell = () => {
    if (held + dropped === 0) return;
    const text = decoder.decode(Buffer.concat(pieces), { stream: dropped === 0 });
    const gap = dropped === 0 ? "" : `\n[… ${dropped} bytes not shown …]\n`;
    shown += held;
    pieces = [];
    held = 0;
    dropped = 0;
    if (text + gap !== "") progress(text + gap);
    if (shown >= MOST_SHOWN_BYTES) stop();
  };
  const teller = setInterval(tell, TELL_EVERY_MS);
  let over = false;
  const stop = () => {
    over = true;
    clearInterval(teller);
  };
  return {
    add(chunk) {
      if (over) return;
      const kept = chunk.subarray(0, MOST_PIECE_BYTES - held);
      // A copy: a chunk is cut from a larger buffer that would be held with it.
      if (kept.length > 0) pieces.push(Buffer.from(kept));
      held += kept.length;
      dropped += chunk.length - kept.length;
    },
    end() {
      if (over) return;
      tell();
      stop();
    },
  };
}
