import { expect, test } from "vitest";
import { Auth } from "../../src/gateway/http/auth.js";
import { ThreadAccess } from "../../src/gateway/thread-access.js";
import { refusal } from "../hooks/support.js";

const KEY = { workspace_id: "ws_1", thread_id: "thr_1" };
const clock = { now: () => 1_800_000_000_000 };

test("[ACC1] every token is another one, with a secret of 256 bits", () => {
  const access = new ThreadAccess(() => {});
  const tokens = Array.from({ length: 50 }, () => access.issue(KEY));
  expect(new Set(tokens).size).toBe(50);
  for (const token of tokens) expect(token).toMatch(/^t\d+\.[\w-]{43}$/);
});

test("[ACC1] what is not exactly a token that was issued is none, and revokes none", () => {
  const access = new ThreadAccess(() => {});
  const [token, other] = [access.issue(KEY), access.issue({ ...KEY, thread_id: "thr_2" })];
  const [name, secret] = token.split(".") as [string, string];
  const [otherName] = other.split(".") as [string];
  const wrong = [
    "",
    ".",
    name,
    `${name}.`,
    `${name}.${secret}x`,
    `${name}.${secret.slice(1)}`,
    `${otherName}.${secret}`,
    `.${secret}`,
    secret,
    `${token}.`,
    ` ${token}`,
    "t99.x",
    "__proto__.x",
    "constructor",
  ];
  for (const guess of wrong) {
    expect(access.boundBy(guess), guess).toBeUndefined();
    access.revoke(guess);
  }
  expect(access.boundBy(token)).toMatchObject(KEY);
  expect(access.boundBy(other)).toMatchObject({ thread_id: "thr_2" });
});

test("[ACC6] a revoked token is none, and whoever came in by it is told once", () => {
  const ended: unknown[] = [];
  const access = new ThreadAccess((bound) => ended.push(bound));
  const token = access.issue(KEY);
  const bound = access.boundBy(token);
  expect(bound?.signal.aborted).toBe(false);
  access.revoke(token);
  access.revoke(token);
  expect(access.boundBy(token)).toBeUndefined();
  expect(bound?.signal.aborted).toBe(true);
  expect(ended).toHaveLength(1);
  expect(ended[0]).toBe(bound);
});

test("[ACC8] no more tokens are given than there may be, until one is revoked", async () => {
  const access = new ThreadAccess(() => {}, 2);
  const first = access.issue(KEY);
  access.issue(KEY);
  expect(await refusal(() => access.issue(KEY))).toMatchObject({ kind: "overloaded" });
  access.revoke(first);
  expect(access.boundBy(access.issue(KEY))).toBeDefined();
  expect(access.boundBy(first)).toBeUndefined();
});

test("[ACC5] a token of a thread is not the gateway's, and brings no session with it", () => {
  const access = new ThreadAccess(() => {});
  const auth = new Auth("the-token", clock, access);
  const cookie = auth.redeem(auth.newCode(), "localhost:1")?.split(";")[0];
  const authorization = `Bearer ${access.issue(KEY)}`;
  expect(auth.admit({ authorization })).toMatchObject({ bound: KEY });
  expect(auth.allows({ authorization, cookie, host: "localhost:1" })).toBe(false);
  expect(auth.admit({ authorization, cookie, host: "localhost:1" })).toMatchObject({ bound: KEY });
  expect(auth.admit({ authorization: "Bearer the-token" })).toEqual({ bound: undefined });
  expect(auth.admit({ authorization: "Bearer t1.x", cookie, host: "localhost:1" })).toBeUndefined();
  expect(auth.admit({})).toBeUndefined();
});
