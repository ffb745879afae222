import type { Desk } from "./harbor-desk.js";

const ROOT_LINES = [
  "# harbor\n",
  "Booking platform for small ports. Ask before adding\na dependency. Write in plain English, short sentences.\n",
  "- Branch from `main`, one concern per branch.",
  "- Never commit secrets or generated files.",
  "- Dates are ISO 8601 in UTC, everywhere.",
  "- A change that a port would notice gets a line in the changelog.",
  "- Say which files you touched, and which you left alone.",
];

const BACKEND_HEAD = `# Backend

Node 20, TypeScript, Postgres. One service in \`src/\`; tests sit beside the source.

## Before you change anything

- Run \`npm test\` and say what you ran.
- A migration is its own commit. Never edit one that has shipped.
- Money is an integer of the smallest unit, with its currency. **Never a float.**

## Payments
`;

const BACKEND_TAIL = `
## Style

- Functions that take one \`deps\` object. No classes for grouping.
- Errors carry a dotted code: \`payment.duplicate_event\`.
- Comments name a failure mode, not the mechanism.

If a rule here is in the way, say so and stop. Do not work around it.
`;

const BACKEND_OLD = `${BACKEND_HEAD}
- Webhook handlers should be idempotent.
- Log the event id, never the card or the person.
${BACKEND_TAIL}`;

/** The third version, which run 14 of the webhooks is told and run 13 was not. */
export const BACKEND_NEW = `${BACKEND_HEAD}
- Every webhook handler is idempotent on the event id. Record the event and do its work in one transaction.
- Log the event id, never the card or the person.

## Tests

- A test names a rule: \`[PAY3] a redelivered event books once\`. The rule stands in \`docs/spec\`.
- Use the scripted provider and the fake clock. No test sleeps, none needs a network, none depends on another.
- Compare whole objects, so that a new field cannot slip through unseen. A snapshot is not a test.
${BACKEND_TAIL}`;

const WEB = `# Web

React, no CSS framework. The page must stay below 150 KB, compressed.

- Every control works with the keyboard, and says so in its test.
`;

interface Folders {
  readonly backend: string;
  readonly payments: string;
  readonly web: string;
}

/** The root's file in seven versions, Backend's in two of three, Web's in two, and one of Payments that is still empty. */
export async function writeDocs(desk: Desk, { backend, payments, web }: Folders): Promise<void> {
  const root = ROOT_LINES.map((_, at) => `${ROOT_LINES.slice(0, at + 1).join("\n")}\n`);
  await desk.docs(undefined, ...root);
  await desk.docs(backend, `${BACKEND_HEAD}${BACKEND_TAIL}`, BACKEND_OLD);
  await desk.docs(payments, "");
  await desk.docs(web, `${WEB.split("\n").slice(0, 3).join("\n")}\n`, WEB);
}
