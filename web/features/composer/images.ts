import { draftOf, setDraft } from "../../state/drafts.js";
import { dropImages, keepImage, readImage } from "../../state/kept-images.js";
import { toastProblem } from "../../state/toasts.js";

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const MB = 1_000_000;
/** What the models take of one image, and the gateway of one message. */
const MOST_OF_ONE = 5 * MB;
const MOST_OF_ALL = 11 * MB;

/** Adds the images among some files to what is being written, and says of each other one why it was not added. */
export async function addImages(threadId: string, files: readonly File[]): Promise<void> {
  let total = 0;
  for (const id of draftOf(threadId).images) total += (await readImage(id))?.size ?? 0;
  const refused: string[] = [];
  for (const file of files) {
    const why = whyNot(file, total);
    if (why) refused.push(`“${file.name}” was not added: ${why}`);
    else {
      total += file.size;
      const id = await keepImage(file);
      setDraft(threadId, { images: [...draftOf(threadId).images, id] });
    }
  }
  if (refused.length > 0) toastProblem(new Error(refused.join(" ")));
}

function whyNot({ type, size }: File, total: number): string | undefined {
  if (!IMAGE_TYPES.includes(type)) return "only PNG, JPEG, GIF and WebP images can go along.";
  if (size === 0) return "it is empty.";
  if (size > MOST_OF_ONE) return `it has ${megabytes(size)} MB, and an image may have ${MOST_OF_ONE / MB}.`;
  if (total + size > MOST_OF_ALL) return `the images of a message may have ${MOST_OF_ALL / MB} MB together.`;
  return undefined;
}

function megabytes(bytes: number): string {
  return (bytes / MB).toFixed(1);
}

export function removeImage(threadId: string, id: string): void {
  setDraft(threadId, { images: draftOf(threadId).images.filter((each) => each !== id) });
  dropImages([id]);
}
