import { describe, expect, test } from "vitest";
import { failures, HeddleError, isKind, VERSION } from "./index.js";

type Failure = { kind: "thread.not_found"; thread_id: string } | { kind: "thread.lost" };
const threadError = failures<Failure>();

describe("errors", () => {
  test("[BAS40] an error carries its kind, its facts apart from it, a message and what caused it", () => {
    const cause = new Error("below");
    const error = threadError({ kind: "thread.not_found", thread_id: "thr_1" }, "There is none.", cause);
    const { kind, data, message, name } = error;
    expect({ kind, data, message, name, cause: error.cause }).toEqual({
      kind: "thread.not_found",
      data: { thread_id: "thr_1" },
      message: "There is none.",
      name: "HeddleError",
      cause,
    });
    expect(error).toBeInstanceOf(HeddleError);
    expect(error).toBeInstanceOf(Error);
    expect("cause" in threadError({ kind: "thread.lost" }, "Gone.")).toBe(false);
  });

  test("[BAS41] a kind is told apart from others, and from what is no error of ours", () => {
    const error = threadError({ kind: "thread.lost" }, "Gone.");
    expect(isKind(error, "thread.lost")).toBe(true);
    expect(isKind(error, "thread.not_found")).toBe(false);
    for (const other of [new Error("thread.lost"), { kind: "thread.lost" }, undefined, null, "thread.lost"])
      expect(isKind(other, "thread.lost")).toBe(false);
  });

  test("[BAS42] the version is the package's", async () => {
    const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
    expect(VERSION).toBe(manifest.version);
  });
});
