import type { Measured } from "./run.js";

export interface Verdict {
  readonly what: string;
  readonly met: boolean;
  readonly detail: string;
}

const OVERLOADED = "-32001 overloaded";
const TRY_AGAIN = 1013;
const CUT_OFF = "1006 ";
const NAMED = 3;

/** What must hold after any load, however long it lasted. */
export function judge(measured: Measured): Verdict[] {
  return [everyTurn(measured), nothingLost(measured), callsAnswered(measured), flatMemory(measured)].concat(
    slowResumed(measured),
    overloadAnswered(measured),
  );
}

function everyTurn({ threads }: Measured): Verdict {
  const idle = threads.filter(({ taken }) => taken === 0).length;
  const failures = threads.flatMap(({ thread_id, failures }) =>
    failures.map((why) => `${thread_id}: ${why}`),
  );
  const turns = threads.reduce((sum, { taken }) => sum + taken, 0);
  const met = idle === 0 && failures.length === 0;
  const detail = met
    ? `${turns} turns of ${threads.length} threads`
    : `${idle} threads idle; ${some(failures)}`;
  return { what: "every thread was busy and every turn completed", met, detail };
}

function nothingLost({ clients }: Measured): Verdict {
  const wrong = clients.flatMap((client) => {
    const { number, expected, heard, messages, written, liveChars, spoken, problems } = client;
    const missing = [
      ...(heard === expected ? [] : [`${heard} of ${expected} notifications`]),
      ...(messages === written ? [] : [`${messages} of ${written} messages`]),
      ...(liveChars === spoken ? [] : [`${liveChars} of ${spoken} characters while they were said`]),
      ...problems,
    ];
    return missing.length > 0 ? [`client ${number}: ${missing.join(", ")}`] : [];
  });
  const total = clients.reduce((sum, { heard }) => sum + heard, 0);
  const met = wrong.length === 0 && total > 0;
  const detail = met ? `${total} heard by ${clients.length} clients, once and in order` : some(wrong);
  return { what: "no notification was lost, doubled or out of order", met, detail };
}

function callsAnswered({ calls }: Measured): Verdict {
  const met = calls.failures.length === 0 && calls.times.length > 0;
  const detail = met ? `${calls.times.length} calls` : some(calls.failures);
  return { what: "every call was answered", met, detail };
}

function flatMemory({ growth }: Measured): Verdict {
  const { early, late, allowed, megabytesPerMinute } = growth;
  const mb = (value: number) => `${Math.round(value)} MB`;
  const rate = `${megabytesPerMinute >= 0 ? "+" : ""}${megabytesPerMinute.toFixed(1)} MB a minute`;
  const detail = `${mb(early)} when warm, ${mb(late)} at the end (${rate}), at most ${mb(allowed)}`;
  return { what: "memory does not grow", met: late <= allowed && early > 0, detail };
}

function slowResumed({ slow }: Measured): Verdict {
  const problems = slow.flatMap((each) => each.problems);
  const clients = slow.reduce((sum, each) => sum + each.clients, 0);
  const resumed = slow.reduce((sum, each) => sum + each.resumed, 0);
  const closed = slow.flatMap(({ closedWith }) => [...closedWith.keys()]);
  const toldWhy = (how: string) => how.startsWith(`${TRY_AGAIN} `) && how.includes("resume");
  // Who reads nothing for two seconds after that is cut off, and then hears no reason.
  const byCode = closed.some(toldWhy) && closed.every((how) => toldWhy(how) || how === CUT_OFF);
  const met = clients > 0 && resumed === clients && problems.length === 0 && byCode;
  const how = [...new Set(closed)].join("; ");
  const detail = met
    ? `${resumed} dropped with "${how}" and resumed without a gap`
    : some([...problems, how]);
  return { what: "slow clients are dropped with a reason and can resume", met, detail };
}

function overloadAnswered({ overloads }: Measured): Verdict {
  const codes = [...new Set(overloads.flatMap(({ refusedWith }) => [...refusedWith.keys()]))];
  const sum = (of: (each: (typeof overloads)[number]) => number) =>
    overloads.reduce((all, each) => all + of(each), 0);
  const refused = sum(({ asked, carriedOut }) => asked - carriedOut);
  const [retryable, retried] = [sum((each) => each.retryable), sum((each) => each.retried)];
  const met =
    refused > 0 &&
    codes.length === 1 &&
    codes[0] === OVERLOADED &&
    retryable === refused &&
    retried === refused;
  const detail = `${refused} refused with ${codes.join(", ") || "nothing"}, ${retried} carried out when sent again`;
  return { what: "what is past the limit gets a retryable -32001", met, detail };
}

function some(all: readonly string[]): string {
  const more = all.length > NAMED ? `, and ${all.length - NAMED} more` : "";
  return `${all.slice(0, NAMED).join("; ")}${more}`;
}
