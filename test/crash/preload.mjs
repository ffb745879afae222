// Loaded into a gateway before anything else: what a test can make of its disk and its clock while it runs. The file that
// HEDDLE_CRASH_CONTROL names says `{shift_ms, flush: "ok" | "fail" | "hold", under}`.
import fs, { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.HEDDLE_CRASH_CONTROL;
let control = { shift_ms: 0, flush: "ok", under: "" };
look();
setInterval(look, 20).unref();

/** One that is just being written is read the next time. */
function look() {
  try {
    control = { ...control, ...JSON.parse(readFileSync(file, "utf8")) };
  } catch {}
}

const RealDate = Date;
const now = () => RealDate.now() + control.shift_ms;
globalThis.Date = class ShiftedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now());
    else super(...given);
  }
  static now() {
    return now();
  }
};

for (const name of ["fsync", "fdatasync"]) {
  const real = fs[name];
  const realNow = fs[`${name}Sync`];
  fs[name] = (descriptor, done) => flushed(descriptor, () => real(descriptor, done), done);
  fs[`${name}Sync`] = (descriptor) => {
    look();
    if (control.flush !== "ok" && isMeant(descriptor)) throw failure();
    return realNow(descriptor);
  };
}
syncBuiltinESMExports();

function flushed(descriptor, flush, done) {
  look();
  if (control.flush === "ok" || !isMeant(descriptor)) flush();
  else if (control.flush === "fail") setImmediate(done, failure());
  else setTimeout(flushed, 5, descriptor, flush, done);
}

function isMeant(descriptor) {
  if (control.under === "") return true;
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`).includes(control.under);
  } catch {
    return true;
  }
}

function failure() {
  return Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO", errno: -5, syscall: "fsync" });
}
