import { plainWords } from "../base/index.js";
import { saveAsset } from "./assets.js";
import { atsfError } from "./errors.js";
import { LONGEST_LINE } from "./log/lines.js";
import { type Message, message as messageSchema } from "./schemas.js";
import { toUtc } from "./time.js";

/** A message that may be appended, with the line it becomes. */
export interface Accepted {
  readonly message: Message;
  readonly line: string;
}

/** Checks a message and moves its inline images out. One that is refused leaves no file behind. */
export async function acceptMessage(dir: string, given: Message): Promise<Accepted> {
  assertMessage(given);
  const content = await Promise.all(given.content.map((block) => moveImageOut(dir, block)));
  // The given object is written, not what a schema makes of it: keys of others keep their order.
  const message = { ...given, timestamp: toUtc(given.timestamp) ?? given.timestamp, content };
  const line = `${JSON.stringify(message)}\n`;
  if (line.length > LONGEST_LINE) throw refused(`its line would be longer than ${LONGEST_LINE} characters`);
  return { message, line };
}

function assertMessage(given: Message): void {
  const content = Array.isArray(given?.content)
    ? given.content.map((block) => (isInlineImage(block) ? { ...block, assetRef: "" } : block))
    : given?.content;
  const parsed = messageSchema.safeParse({ ...given, content }, { error: plainWords });
  if (parsed.success) return;
  const [issue] = parsed.error.issues;
  throw refused(`${issue?.path.join(".")} ${issue?.message}`);
}

type Block = Message["content"][number];

function isInlineImage(block: Block): block is Block & { data: string } {
  return block?.type === "image" && typeof block.data === "string" && !("assetRef" in block);
}

/** Inline images become files, so that the log stays small and readable. */
async function moveImageOut(dir: string, block: Block): Promise<Block> {
  if (!isInlineImage(block)) return block;
  const { data, ...rest } = block;
  const assetRef = await saveAsset(dir, Buffer.from(data, "base64"), String(rest.mimeType));
  return { ...rest, assetRef } as Block;
}

function refused(problem: string) {
  return atsfError(
    { kind: "atsf.invalid_message", problem },
    `This is no message of the format: ${problem}.`,
  );
}
