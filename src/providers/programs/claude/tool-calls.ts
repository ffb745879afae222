import { isAbsolute, relative } from "node:path";
import { z } from "zod";
import type { FileDiff } from "../../provider.js";
import type { Tell } from "../program.js";
import { jsonText } from "../say.js";
import type { Block } from "./lines.js";
import { BRIDGE_PREFIX } from "./options.js";

/** The calls of one turn: each is told once when it begins, and once with what came of it. */
export class ToolCalls {
  readonly #tell: Tell;
  readonly #directory: string;
  readonly #begunAt = new Map<string, number>();

  constructor(tell: Tell, directory: string) {
    this.#tell = tell;
    this.#directory = directory;
  }

  /** By the model's words or by a request for permission, whichever comes first. */
  begin(id: string, name: string, input: unknown): void {
    if (this.#begunAt.has(id)) return;
    this.#begunAt.set(id, performance.now());
    const given = jsonText(input ?? {});
    this.#tell({ type: "tool_call", id, name: toldName(name), arguments: given });
  }

  /** The time in which somebody was asked is not the tool's. */
  allowed(id: string): void {
    if (this.#begunAt.has(id)) this.#begunAt.set(id, performance.now());
  }

  /** Still at work: nothing to show, but no silence either. */
  lives(id: string): void {
    if (this.#begunAt.has(id)) this.#tell({ type: "tool_output", id, text: "" });
  }

  /** `result` is the program's own record of it, where it gives one. */
  finish({ tool_use_id: id, content, is_error }: Block, result: unknown): void {
    const begunAt = id === undefined ? undefined : this.#begunAt.get(id);
    if (id === undefined || begunAt === undefined) return;
    const diffs = is_error ? [] : diffsOf(result, this.#directory);
    this.#tell({
      type: "tool_result",
      id,
      output: outputOf(content),
      failed: is_error === true,
      duration_ms: Math.round(performance.now() - begunAt),
      ...(diffs.length > 0 && { diffs }),
    });
  }
}

/** Tools of the bridge have Heddle's names, and a list of things to do is a plan whoever makes it. */
export function toldName(name: string): string {
  if (name.startsWith(BRIDGE_PREFIX)) return name.slice(BRIDGE_PREFIX.length);
  return name === "TodoWrite" ? "plan" : name;
}

const contentSchema = z.array(z.looseObject({ type: z.string(), text: z.string().optional() }));

function outputOf(content: unknown): string {
  if (typeof content === "string") return withoutTag(content);
  const parts = contentSchema.safeParse(content).data ?? [];
  return parts.map(({ type, text }) => text ?? `[${type}]`).join("\n");
}

function withoutTag(text: string): string {
  return /^<tool_use_error>([\s\S]*)<\/tool_use_error>$/.exec(text)?.[1] ?? text;
}

/** What `Edit` and `Write` record of a file. */
const fileSchema = z.union([
  z.looseObject({
    filePath: z.string(),
    oldString: z.string(),
    newString: z.string(),
    originalFile: z.string().nullish(),
    replaceAll: z.boolean().nullish(),
  }),
  z.looseObject({ filePath: z.string(), content: z.string(), originalFile: z.string().nullable() }),
]);

function diffsOf(result: unknown, directory: string): FileDiff[] {
  const file = fileSchema.safeParse(result).data;
  if (!file) return [];
  const path = within(directory, file.filePath);
  if ("content" in file && typeof file.content === "string")
    return [{ path, oldText: file.originalFile ?? "", newText: file.content }];
  const { oldString, newString, originalFile, replaceAll } = file as EditedFile;
  // Of a large file only what was changed is recorded.
  if (originalFile === undefined || originalFile === null)
    return [{ path, oldText: oldString, newText: newString }];
  const newText = replaceAll
    ? originalFile.replaceAll(oldString, () => newString)
    : originalFile.replace(oldString, () => newString);
  return [{ path, oldText: originalFile, newText }];
}

type EditedFile = Extract<z.infer<typeof fileSchema>, { oldString: string }>;

function within(directory: string, path: string): string {
  const inside = relative(directory, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path : inside;
}
