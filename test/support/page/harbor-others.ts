import { type Desk, tokens } from "./harbor-desk.js";

/** The gate that holds Codex in the thread of the date picker. */
const HELD = "harbor-date-picker";

/** A short thread that was read long ago. */
async function quiet(desk: Desk, folder_id: string | undefined, agent_id: string, words: readonly string[]) {
  const [title = "", asked = "", answer = ""] = words;
  const { id } = await desk.thread({ folder_id, agent_id, title });
  await desk.say(id, "user", asked);
  await desk.say(id, "agent", answer);
}

export async function refunds(desk: Desk, folder_id: string): Promise<void> {
  await quiet(desk, folder_id, "codex", [
    "Refund rounding in JPY",
    "Refunds in yen are off by one.",
    "Yen has no smaller unit. The refund now rounds once, at the end.",
  ]);
}

export async function idempotency(desk: Desk, folder_id: string): Promise<void> {
  await quiet(desk, folder_id, "claude-code", [
    "Idempotency keys audit",
    "Which handlers take an idempotency key?",
    "Seven of nine. The two webhooks do not.",
  ]);
}

export async function login(desk: Desk, folder_id: string): Promise<void> {
  await quiet(desk, folder_id, "claude-code", [
    "Fix login redirect loop",
    "Signing in sends me round in circles.",
    "The cookie was set for the wrong path. Fixed, with a test.",
  ]);
}

/** Reviewer answers while nobody looks. */
export async function slowQuery(desk: Desk, folder_id: string): Promise<string> {
  const { id } = await desk.thread({ folder_id, agent_id: "reviewer", title: "Slow query on /bookings" });
  await desk.answered(id, "Why is /bookings slow since Monday?", [
    {
      text: "A slow webhook answer makes the provider redeliver, so the page waits for the same rows twice. The index on `bookings.port_id` is not used either.",
    },
    tokens(1_840, 120),
  ]);
  return id;
}

/** Codex is at work, and has a message waiting. */
export async function datePicker(desk: Desk, folder_id: string): Promise<string> {
  const { id } = await desk.thread({ folder_id, agent_id: "codex", title: "Date picker trap" });
  const asked = "The date picker does not let go of the focus in Safari.";
  desk.script(asked, [
    { text: "I will follow the focus with the keyboard first." },
    { gate: HELD },
    tokens(900, 12),
  ]);
  const { id: run } = await desk.start(id, asked);
  await desk.until(run, ({ status }) => status === "running");
  await desk.start(id, "Check it in Firefox as well.");
  return id;
}

export async function checkoutCopy(desk: Desk, folder_id: string): Promise<void> {
  await quiet(desk, folder_id, "notes", [
    "Checkout copy",
    "Read the checkout once more.",
    "Two sentences were too long. Both are shorter now.",
  ]);
}

export async function changelog(desk: Desk, folder_id: string): Promise<void> {
  await quiet(desk, folder_id, "notes", [
    "Changelog",
    "Begin the changelog of 4.2.",
    "It has three headings: Added, Changed and Fixed.",
  ]);
}

export async function atRoot(desk: Desk): Promise<void> {
  await quiet(desk, undefined, "reviewer", [
    "Weekly review",
    "What changed this week?",
    "Eleven branches, of which nine are merged.",
  ]);
  await quiet(desk, undefined, "notes", [
    "Decisions",
    "We book in the port's own time zone.",
    "Noted, with the date and who was there.",
  ]);
}

const IDEAS = ["Tide tables", "Berth swaps", "Pilot rota", "Fuel prices"];

/** Folders that are closed and only show how much is in them. */
export async function closedFolders(
  desk: Desk,
  ideas: string,
  archive: string,
  archived: number,
): Promise<void> {
  const start = (folder_id: string, title: string) => desk.thread({ folder_id, agent_id: "notes", title });
  const many = (count: number, folder: string, name: (at: number) => string) =>
    Promise.all(Array.from({ length: count }, (_, at) => start(folder, name(at))));
  await many(12, ideas, (at) => `${IDEAS[at % IDEAS.length]}, idea ${at + 1}`);
  await many(archived, archive, (at) => (at === 0 ? "Sign webhook bodies" : `Closed in 4.1, number ${at}`));
}
