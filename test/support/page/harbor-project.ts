import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The piece of the handler that run 14 edits. */
export const BEFORE = `  if (await events.has(event.id)) return ok();
  await bookings.confirm(event.booking);`;

export const AFTER = `  await db.transaction(async (tx) => {
    const first = await events.record(tx, event.id);
    if (first) await bookings.confirm(tx, event.booking);
  });`;

const head = Array.from(
  { length: 39 },
  (_, at) => `// ${at + 1}: the provider's retries, its clock and its signature`,
);

const WEBHOOK = `${head.join("\n")}
export async function handlePaymentSucceeded(req: Request): Promise<Response> {
  const event = verify(req);
${BEFORE}
  return ok();
}
`;

const FILES: Record<string, string> = {
  "src/payments/webhook.ts": WEBHOOK,
  "src/payments/routes.ts": `import { handlePaymentSucceeded } from "./webhook.js";

export const routes = { "/hooks/payments": handlePaymentSucceeded };
`,
  "src/payments/webhook.test.ts": `// [PAY3] handlePaymentSucceeded books once
`,
  "test-output.txt": `webhook.test.ts
  delivers twice at once, books once
18 passed
`,
  "build-output.txt": `${Array.from({ length: 212 }, (_, at) => `transforming module ${at + 1}`).join("\n")}
error during build:
Could not resolve "./legacy" from "src/editor/index.ts"
`,
  "package.json": `{
  "name": "harbor",
  "private": true,
  "scripts": {
    "test": "cat test-output.txt #",
    "build": "cat build-output.txt && exit 1 #"
  }
}
`,
};

/** The files that the agents look at and change. */
export function writeProject(root: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
