import { join } from "node:path";
import { plainWords } from "../base/index.js";
import { isAssetRef } from "./assets.js";
import { isInside } from "./confined.js";
import { isThere } from "./files.js";
import { ASSETS, LOG } from "./layout.js";
import { errorIn, type Problem, warningIn } from "./problems.js";
import { type Message, message as messageSchema } from "./schemas.js";
import { isUtc } from "./time.js";

const ISSUES_TOLD = 3;

/** Everything that is wrong with one message of a thread. */
export async function* validateMessage(dir: string, message: Message, line: number): AsyncGenerator<Problem> {
  const file = join(dir, LOG);
  const parsed = messageSchema.safeParse(message, { error: plainWords });
  for (const { path, message: why } of parsed.error?.issues.slice(0, ISSUES_TOLD) ?? []) {
    const told = { is: "schema", message: `${path.join(".")} ${why}.` };
    yield errorIn(file, { ...told, advice: "Correct the program that wrote it." }, { line });
  }
  if (typeof message.timestamp === "string" && !isUtc(message.timestamp)) {
    const told = { is: "not_utc", message: `Its timestamp is ${message.timestamp}, which is not in UTC.` };
    yield warningIn(file, { ...told, advice: "It is read all the same; write times in UTC." }, { line });
  }
  yield* validateToolCalls(file, message, line);
  for (const block of message.content) {
    if (block?.type === "image" && typeof block.assetRef === "string") {
      yield* validateAsset(dir, block.assetRef, line);
    }
  }
}

function* validateToolCalls(file: string, { toolCalls }: Message, line: number): Generator<Problem> {
  const ids = new Set<unknown>();
  for (const call of Array.isArray(toolCalls) ? toolCalls : []) {
    const id = call?.toolCallId;
    if (id !== undefined && ids.has(id)) {
      const told = { is: "duplicate_tool_call", message: `Two of its tool calls have the id ${id}.` };
      yield warningIn(file, { ...told, advice: "Correct the program that wrote it." }, { line });
    }
    ids.add(id);
  }
}

async function* validateAsset(dir: string, assetRef: string, line: number): AsyncGenerator<Problem> {
  const file = join(dir, LOG);
  const path = join(dir, ASSETS, assetRef);
  if (!isAssetRef(assetRef)) {
    const told = { is: "asset_invalid", message: `${assetRef} can't be an asset's name.` };
    yield errorIn(file, { ...told, advice: "It is never opened." }, { line });
  } else if (!(await isThere(path))) {
    const told = { is: "asset_missing", message: `${assetRef} is not in assets/.` };
    yield warningIn(file, { ...told, advice: "Bring it back from a backup." }, { line });
  } else if (!(await isInside(dir, path).catch(() => false))) {
    const told = { is: "leads_out", message: `${assetRef} is a link that leads out of the thread.` };
    yield errorIn(file, { ...told, advice: "It is not followed. Replace it by the file." }, { line });
  }
}
