import { useEffect, useState } from "react";
import { addImages } from "./images.js";

/** Files may be dropped anywhere on main. Without this the browser would leave the page and show the file. */
export function useDrop(threadId: string): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    const files = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const onMain = ({ target }: DragEvent) => target instanceof Element && target.closest(".main") !== null;
    const moved = (event: DragEvent) => {
      if (!files(event)) return;
      event.preventDefault();
      setOver(onMain(event));
    };
    const left = (event: DragEvent) => event.relatedTarget === null && setOver(false);
    const dropped = (event: DragEvent) => {
      setOver(false);
      if (!files(event)) return;
      event.preventDefault();
      if (onMain(event)) void addImages(threadId, [...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("dragover", moved);
    addEventListener("dragleave", left);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragover", moved);
      removeEventListener("dragleave", left);
      removeEventListener("drop", dropped);
    };
  }, [threadId]);
  return over;
}
