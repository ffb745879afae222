import type { Scroller } from "./scroller.js";

type Jump = Scroller["jump"];

let jump: Jump | undefined;

/** The transcript that is open offers how to get to a message of it. Returns a function that withdraws it. */
export function offerJump(offered: Jump): () => void {
  jump = offered;
  return () => {
    if (jump === offered) jump = undefined;
  };
}

export async function jumpTo(message: string): Promise<boolean> {
  return (await jump?.(message)) ?? false;
}
