import { expect, test } from "vitest";
import type { LiveNote } from "../threads/index.js";
import { Live } from "./live.js";

const KEPT = 64 * 1024;

function stage() {
  const told: LiveNote[] = [];
  const live = new Live({ workspace_id: "wks_1", thread_id: "thr_1" }, "run_1", (note) => told.push(note));
  live.begin(1);
  const deltas = (notes: readonly LiveNote[]) =>
    notes
      .filter(({ method }) => method === "run/delta")
      .map(({ params }) => params as { kind: string; offset: number; text: string });
  return { live, told: () => deltas(told), soFar: () => deltas(live.soFar()) };
}

test("[RUN76] who comes later gets the end of a tool's output at its true place, however long it is", () => {
  const { live, told, soFar } = stage();
  let whole = "";
  for (let line = 0; line < 5_000; line++) {
    const text = `${line} ${"y".repeat(line % 97)}\n`;
    live.add("tool_output", "call_1", text);
    expect(told().at(-1)).toMatchObject({ offset: whole.length, text });
    whole += text;
    if (line % 500 !== 0) continue;
    const [{ offset = 0, text: kept = "" } = {}] = soFar();
    expect(kept.length).toBe(Math.min(whole.length, KEPT));
    expect(whole.slice(offset)).toBe(kept);
  }
  expect(whole.length).toBeGreaterThan(3 * KEPT);
});

test("[RUN123] who comes in mid-run is told how long each thought took, and has taken so far", async () => {
  const { live } = stage();
  const took = () => live.soFar().map(({ params }) => (params as { took_ms?: number }).took_ms);
  live.add("thinking", "t1", "Hm.");
  await new Promise((later) => setTimeout(later, 30));
  live.add("text", "text", "So.");
  const [first] = took() as [number];
  expect(first).toBeGreaterThanOrEqual(29);
  live.add("thinking", "t2", "But");
  await new Promise((later) => setTimeout(later, 30));
  expect(took()).toEqual([first, undefined, expect.any(Number)]);
  expect(took()[2]).toBeGreaterThanOrEqual(29);
});

test("[RUN76] no piece begins in the middle of a character", () => {
  const { live, soFar } = stage();
  for (const first of ["", "x"]) {
    live.forget();
    live.add("tool_output", "call_1", first + "🧵".repeat(KEPT));
    const [{ offset = 0, text = "" } = {}] = soFar();
    expect(text.isWellFormed()).toBe(true);
    expect(offset + text.length).toBe(first.length + 2 * KEPT);
  }
});

test("[RUN76] the words of an answer stay whole", () => {
  const { live, soFar } = stage();
  for (let piece = 0; piece < 40; piece++) live.add("text", "text", "z".repeat(10_000));
  expect(soFar()).toMatchObject([{ kind: "text", offset: 0, text: "z".repeat(400_000) }]);
});

test("[RUN76] of a call that has its answer only how it stands is told, and nothing that comes after it", () => {
  for (const status of ["completed", "failed"]) {
    const { live, told, soFar } = stage();
    live.add("text", "text", "I look.");
    for (const id of ["call_1", "call_2"]) {
      live.add("tool_input", id, "{}");
      live.tool({ tool_call_id: id, name: "bash", status: "running" });
      live.add("tool_output", id, "so far");
    }
    live.tool({ tool_call_id: "call_1", name: "bash", status, output: "all of it" });
    live.add("tool_output", "call_1", "too late");
    live.add("tool_output", "call_2", " so good");
    expect(soFar()).toMatchObject([
      { kind: "text", text: "I look." },
      { kind: "tool_input", id: "call_2", text: "{}" },
      { kind: "tool_output", id: "call_2", offset: 0, text: "so far so good" },
    ]);
    expect(told().some(({ text }) => text === "too late")).toBe(false);
    const tools = live.soFar().filter(({ method }) => method === "run/tool");
    expect(tools.map(({ params }) => params)).toMatchObject([
      { tool_call_id: "call_1", status },
      { tool_call_id: "call_2", status: "running" },
    ]);
    // The same id in the next step is another call.
    live.begin(2);
    live.add("tool_output", "call_1", "anew");
    expect(soFar().at(-1)).toMatchObject({ id: "call_1", offset: 0, text: "anew" });
  }
});

test("[RUN77] what a call changed is told with its end while it is short", () => {
  const { live } = stage();
  const change = (text: string) => [{ path: "a.ts", oldText: "", newText: text }];
  const done = { name: "files_edit", status: "completed" };
  live.tool({ ...done, tool_call_id: "call_1", diffs: change("short") });
  live.tool({ ...done, tool_call_id: "call_2", diffs: change("x".repeat(64 * 1024 + 1)) });
  const [first, second] = live.soFar().map(({ params }) => params);
  expect(first).toMatchObject({ diffs: [{ path: "a.ts", old_text: "", new_text: "short" }] });
  expect(second).not.toHaveProperty("diffs");
});
