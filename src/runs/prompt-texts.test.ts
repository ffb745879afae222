import { expect, test } from "vitest";
import type { Store } from "../store/index.js";
import { PromptTexts } from "./prompt-texts.js";

test("[RUN124] a short text that is kept keeps no more bytes than its own", async () => {
  const texts = new PromptTexts({} as Store);
  const refs = Array.from({ length: 50 }, (_, n) => `sha256:${n}`);
  for (const ref of refs) texts.remember(ref, [{ role: "user", content: "hi" }], `"hi, ${ref}"`);
  const kept = [...(await texts.load(refs)).values()];
  expect(kept.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(refs.map((ref) => `"hi, ${ref}"`));
  const held = new Set(kept.map(({ bytes }) => bytes.buffer));
  const heldBytes = [...held].reduce((sum, { byteLength }) => sum + byteLength, 0);
  expect(heldBytes).toBe(kept.reduce((sum, { bytes }) => sum + bytes.length, 0));
});
