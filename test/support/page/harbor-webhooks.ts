import type { Run } from "../../../src/protocol/index.js";
import { type Desk, tokens, toolCall } from "./harbor-desk.js";
import { BACKEND_NEW } from "./harbor-docs.js";
import { AFTER, BEFORE } from "./harbor-project.js";

/** What came before: thirteen questions and their answers. */
const EARLIER: readonly (readonly [string, string])[] = [
  [
    "Which tables does the webhook handler write to?",
    "Three: events, bookings and outbox. The first has no unique index yet, so nothing keeps an event from being written twice.",
  ],
  [
    "Where is the signature checked?",
    "In `verify`, before anything is read from the body. It throws when the clock differs by more than five minutes.",
  ],
  [
    "How often did support see a double booking last week?",
    "Four times, each within two seconds of the first. All four have the same event id.",
  ],
  ["Is the provider's retry documented?", "Yes: after 2 s without an answer, then after 10, 60 and 600 s."],
  [
    "What happens when the database is down?",
    "The handler answers 500 and the provider tries again. Nothing is written, so nothing is lost.",
  ],
  [
    "Could we answer first and book later?",
    "We could, with the outbox. Then a crash between the two loses the booking unless the outbox row is written first.",
  ],
  [
    "Compare both in a table.",
    "| | Answer first | Book first |\n|---|---|---|\n| Time to answer | 20 ms | 400 ms |\n| A crash loses | nothing, with the outbox | nothing |\n| Retries seen | rarely | often |",
  ],
  [
    "Who else calls `bookings.confirm`?",
    "Only the operator's page, behind its own lock. It passes no event, so it stays as it is.",
  ],
  [
    "Write down the rule we agreed on.",
    "`[PAY3] a redelivered event books once` stands in `docs/spec/payments.md` now.",
  ],
  [
    "Does the test provider deliver twice?",
    "It does when it is told to: `deliver(event, { times: 2, together: true })`.",
  ],
  [
    "What would a unique index cost?",
    "About 40 ms for the migration at today's size, and nothing measurable for each event after it.",
  ],
  [
    "Is there an event without an id?",
    "None in the last 90 days. The provider calls it required, and `verify` refuses an event without one.",
  ],
  [
    "Anything else that could book twice?",
    "The nightly import could, but it runs under an advisory lock and skips what is confirmed.",
  ],
];

const ASKED =
  "The provider redelivers `payment.succeeded` when we answer slowly, and we book twice. Make the handler idempotent on the event id, and prove it with a test that delivers twice at once.";
const NEXT = "Then add a line to the changelog, under Fixed.";
const MIGRATE = "npm run db:migrate -- --env staging --dry-run";

/** The gate that holds the answer in mid-sentence. */
const HELD = "harbor-answer";

interface Place {
  readonly backend: string;
  readonly payments: string;
  /** Codex's thread. */
  readonly migration: string;
}

export interface Webhooks {
  readonly id: string;
  /** Number 14, which streams and is held. */
  readonly run: Run;
  /** Codex's thread, whose run waits for somebody. */
  readonly migration: string;
  /** Lets the answer come to its end. */
  goOn(): void;
}

/** The thread of the first picture: thirteen runs, and one that streams, has delegated and has a message waiting. */
export async function webhooks(desk: Desk, { backend, payments, migration }: Place): Promise<Webhooks> {
  const { id } = await desk.thread({
    folder_id: payments,
    agent_id: "claude-code",
    title: "Webhooks book twice",
  });
  for (const [at, [asked, text]] of EARLIER.entries()) {
    await desk.answered(id, asked, [{ text }, tokens(1_904 + at * 214, 310 + at * 51)]);
  }
  await desk.docs(backend, BACKEND_NEW);
  return { id, migration, run: await fourteenth(desk, id, migration), goOn: () => desk.model.open(HELD) };
}

async function fourteenth(desk: Desk, id: string, migration: string): Promise<Run> {
  desk.script(
    ASKED,
    [
      {
        thinking:
          "Two deliveries at once both see that the event is not there. The check must be the write itself: a unique index on the event id, and the booking in the same transaction.",
      },
      {
        text: "The check and the booking are two statements, so a second delivery slips in between. I will record the event first, in the same transaction, and let the unique index decide.",
      },
      toolCall("call_search", "files_search", { pattern: "handlePaymentSucceeded" }),
      tokens(4_310, 402),
    ],
    [
      toolCall("call_edit", "files_edit", {
        path: "src/payments/webhook.ts",
        old_text: BEFORE,
        new_text: AFTER,
      }),
      toolCall("call_test", "bash", { command: "npm test -- webhook" }),
      toolCall("call_codex", "agents_message", {
        agentId: "codex",
        content: "Try the migration that adds the unique index on staging, dry.",
        session: migration,
        mode: "async",
      }),
      tokens(4_870, 388),
    ],
    [
      {
        text: [
          "The handler now confirms a booking at most once per event. ",
          "Two deliveries at once meet at the unique index: one records the event, the other waits, sees the row and answers",
        ],
      },
      { gate: HELD },
      { text: " at once. The test delivers both together and finds one booking." },
      tokens(5_212, 118),
    ],
  );
  const run = await desk.start(id, ASKED);
  await desk.until(run.id, ({ approvals = [] }) => approvals.length > 0);
  await desk.start(id, NEXT);
  return run;
}

/** Codex was asked in the background and wants to run a command. */
export async function migrationThread(desk: Desk, payments: string): Promise<string> {
  const { id } = await desk.thread({ folder_id: payments, agent_id: "codex", title: "Migration dry run" });
  desk.script(
    "Try the migration that adds the unique index on staging, dry.",
    [
      { text: "I will run it with `--dry-run`, so that nothing is written." },
      toolCall("call_migrate", "bash", { command: MIGRATE }),
      tokens(2_104, 96),
    ],
    [{ text: "The migration would take 41 ms and lock nothing that is read." }, tokens(2_260, 44)],
  );
  return id;
}
