import { expect, test } from "vitest";
import { Screen } from "./screen.js";

/** Two streams; on a terminal what is written to either stands on one screen. */
function streams({ out, err }: { out: boolean; err: boolean }) {
  const written = { out: "", err: "", both: "" };
  const stream = (name: "out" | "err", isTTY: boolean) => ({
    isTTY,
    write(text: string) {
      written[name] += text;
      written.both += text;
    },
  });
  return { written, screen: new Screen({ out: stream("out", out), err: stream("err", err) }) };
}

test("[CLI150] in a pipe the words go out to the letter, with a line end", () => {
  const { written, screen } = streams({ out: false, err: false });
  screen.say("a\u001b[31m\r");
  screen.say("\nb\ud83e");
  screen.aside("about it");
  screen.say("\uddf5\n\nc\u0007");
  screen.end();
  expect(written.out).toBe("a\u001b[31m\r\nb🧵\n\nc\u0007\n");
  expect(written.err).toBe("about it\n");
});

test("[CLI150] an answer that ends a line gets no other, and none gets nothing", () => {
  const one = streams({ out: false, err: false });
  one.screen.say("done\n");
  one.screen.end();
  expect(one.written.out).toBe("done\n");
  const none = streams({ out: true, err: true });
  none.screen.end();
  expect(none.written.both).toBe("");
});

test("[CLI158] on a terminal nothing in the words steers it", () => {
  const { written, screen } = streams({ out: true, err: true });
  screen.say("a\u001b]0;title\u0007b\tc\r");
  screen.say("\nd\re\u009bf");
  screen.end();
  expect(written.out).toBe("a^[]0;title^Gb\tc\nd^Me\\x9bf\n");
});

test("[CLI158] on a terminal what is said about the words stands on lines of its own", () => {
  const { written, screen } = streams({ out: true, err: true });
  screen.think("hm, ");
  screen.think("yes");
  screen.say("I look.");
  screen.aside("[tool] look");
  screen.say("\n\nFound it.");
  screen.end();
  expect(written.both).toBe("hm, yes\nI look.\n[tool] look\nFound it.\n");
});

test("[CLI158] where only the words are on a terminal, they stay apart without the lines between", () => {
  const { written, screen } = streams({ out: true, err: false });
  screen.say("I look.");
  screen.think("not shown");
  screen.aside("[tool] look");
  screen.say("\n\nFound it.");
  screen.end();
  expect(written.out).toBe("I look.\n\nFound it.\n");
  expect(written.err).toBe("[tool] look\n");
});
