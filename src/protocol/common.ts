import { z } from "zod";
import { optionalParam, plainText } from "./text.js";

export const unixSeconds = z.int().describe("unix seconds");
export const seq = z.int().min(0).describe("per workspace, one higher with each durable notification");

export const MAX_PAGE = 500;

/** Params every list takes. */
export const pageParams = {
  cursor: optionalParam(plainText.max(1024)).describe("`next_cursor` of the page before"),
  limit: optionalParam(z.int().min(1).max(MAX_PAGE)).describe("default 100"),
};

export function page<T extends z.ZodType>(item: T) {
  return z.object({ data: z.array(item), next_cursor: z.string().optional() });
}
