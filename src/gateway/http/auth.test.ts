import { expect, test } from "vitest";
import { Auth } from "./auth.js";

const DAY_MS = 24 * 3600 * 1000;

/** A door with a clock that stands where it is put. */
function door(token = "token") {
  const clock = { now: () => at };
  let at = 1_800_000_000_000;
  const auth = new Auth(token, clock);
  const visit = (code: string) => auth.redeem(code, "localhost:4170")?.split(";")[0];
  return {
    auth,
    visit,
    lets: (cookie: string | undefined) => auth.allows({ cookie, host: "localhost:4170" }),
    wait: (ms: number) => {
      at += ms;
    },
  };
}

test("[WIRE58] a session ends after 30 days", () => {
  const { auth, visit, lets, wait } = door();
  const cookie = visit(auth.newCode());
  wait(30 * DAY_MS - 1);
  expect(lets(cookie)).toBe(true);
  wait(1);
  expect(lets(cookie)).toBe(false);
});

test("[WIRE58] a session is signed: one of another token, or with a time of one's own, is none", () => {
  const [ours, theirs] = [door("one"), door("two")];
  const cookie = theirs.visit(theirs.auth.newCode());
  expect(theirs.lets(cookie)).toBe(true);
  expect(ours.lets(cookie)).toBe(false);
  const forever = cookie?.replace(/=\d+/, "=99999999999999");
  expect(theirs.lets(forever)).toBe(false);
});

test("[WIRE56] a code that nobody used ends after ten minutes", () => {
  const { auth, visit, wait } = door();
  const [early, late] = [auth.newCode(), auth.newCode()];
  wait(10 * 60 * 1000);
  expect(visit(early)).toBeDefined();
  wait(1);
  expect(visit(late)).toBeUndefined();
});
