import { create } from "zustand";

/** Words that somebody wants to find in the thread that is open; undefined: nothing was asked, or it was taken up. */
export const useFindAsked = create<{ readonly words: string | undefined }>()(() => ({ words: undefined }));

export function askToFind(words: string | undefined): void {
  useFindAsked.setState({ words });
}
