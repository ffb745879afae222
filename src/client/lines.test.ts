import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { eachLine } from "./lines.js";

test("[CONN39] lines end at line feeds alone, however they are cut; what comes last needs none", async () => {
  const input = new PassThrough();
  const heard: string[] = [];
  const closed = new Promise<void>((resolve) => eachLine(input, (text) => heard.push(text), resolve));
  const text = '{"a":"\u2028 \u2029 \u0085 é😀"}\r\n\n{"b":1}\nlast';
  for (const byte of Buffer.from(text)) input.write(Buffer.from([byte]));
  input.end();
  await closed;
  expect(heard).toEqual(['{"a":"\u2028 \u2029 \u0085 é😀"}', "", '{"b":1}', "last"]);
});
