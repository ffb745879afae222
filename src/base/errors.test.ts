import { describe, expect, test } from "vitest";
import { z } from "zod";
import { failures, HeddleError, isKind, plainWords, VERSION } from "./index.js";

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

  test.each<[z.ZodType, unknown, string]>([
    [z.string(), 7, "must be a string, not a number"],
    [z.string(), null, "must be a string, not null"],
    [z.string(), undefined, "is missing"],
    [z.boolean(), [], "must be true or false, not a list"],
    [z.array(z.string()), {}, "must be a list, not an object"],
    [z.object({}), "{}", "must be an object, not a string"],
    [z.int(), 1.5, "must be a whole number"],
    [z.int(), "1", "must be a number, not a string"],
    [z.number(), Number.POSITIVE_INFINITY, "must be a number"],
    [z.string().min(1), "", "must not be empty"],
    [z.string().min(3), "secret".slice(4), "must have at least 3 characters"],
    [z.string().max(1), "secret", "must have at most 1 character"],
    [z.string().length(2), "secret", "must have exactly 2 characters"],
    [z.array(z.int()).min(1), [], "must not be empty"],
    [z.array(z.int()).max(2), [1, 2, 3], "must have at most 2 entries"],
    [z.int().min(1), 0, "must be at least 1"],
    [z.int().max(500), 501, "must be at most 500"],
    [z.number().positive(), 0, "must be more than 0"],
    [z.number().multipleOf(5), 7, "must be a multiple of 5"],
    [z.enum(["user", "agent"]), "secret", "must be one of user, agent"],
    [z.enum(["user", "agent"]), undefined, "is missing"],
    [z.literal(1), "secret", "must be 1"],
    [z.strictObject({}), { a: "secret" }, 'must not have the key "a"'],
    [z.strictObject({}), { a: 1, b: 2, c: 3, d: 4 }, 'must not have the keys "a", "b", "c", …'],
    [z.iso.datetime(), "secret", "must be a time such as 2026-01-31T12:00:00Z"],
    [z.union([z.string(), z.array(z.string())]), 7, "must be a string or a list, not a number"],
    [z.union([z.object({ a: z.int() }), z.string()]), { a: "secret" }, "is of no form that is known here"],
  ])("[BAS43] what a schema found, in words: %#", (schema, value, words) => {
    const { error } = schema.safeParse(value, { error: plainWords });
    expect(error?.issues.map(({ message }) => message)).toEqual([words]);
  });

  test("[BAS43] a schema's own words stay; keys are not told at any length; what has no words has the library's", () => {
    const found = (schema: z.ZodType, value: unknown) =>
      schema.safeParse(value, { error: plainWords }).error?.issues[0]?.message;
    expect(found(z.string().min(1, "must have a title"), "")).toBe("must have a title");
    expect(found(z.strictObject({}), { ["k".repeat(9_999)]: 1 })?.length).toBeLessThan(100);
    expect(found(z.email(), "secret")).toBe("Invalid email address");
  });

  test("[BAS42] the version is the package's", async () => {
    const { default: manifest } = await import("../../package.json", { with: { type: "json" } });
    expect(VERSION).toBe(manifest.version);
  });
});
