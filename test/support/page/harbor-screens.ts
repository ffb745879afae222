import type { BrowserContextOptions, Page, WebSocketRoute } from "playwright-core";
import type { Harbor } from "./harbor.js";

/** One of the page's screens: where it is, and how one gets to see all of it. */
export interface Screen {
  readonly name: string;
  readonly path: (harbor: Harbor) => string;
  readonly phone?: boolean;
  /** Brings it about, and waits for what must be on it. */
  show(page: Page, harbor: Harbor): Promise<void>;
  /** What the page may complain of. */
  readonly tolerates?: RegExp;
}

export const DESK = { width: 1440, height: 900 };
export const PHONE = { width: 390, height: 844 };

const thread = ({ ws, webhooks }: Harbor) => `/w/${ws}/thread/${webhooks.id}`;

const words = async (page: Page, ...texts: readonly (string | RegExp)[]) => {
  for (const text of texts) await page.getByText(text).first().waitFor();
};

/** The run's answer so far, and what its delegate asks. */
async function liveThread(page: Page): Promise<void> {
  await page.getByRole("heading", { level: 1, name: "Webhooks book twice" }).waitFor();
  await words(
    page,
    /sees the row and answers/,
    /Codex wants to run a command/,
    "Then add a line to the changelog, under Fixed.",
  );
}

async function openArtifacts(page: Page): Promise<void> {
  for (const name of ["Release 4.2", "Why these three block", "Blocks the tag"]) {
    await page.getByRole("button", { name: "Open a list, note or view" }).click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  }
  const list = page.getByRole("region", { name: "Release 4.2" });
  await list.getByRole("option", { name: /Date picker/ }).click();
  await list.getByRole("option", { name: /Bundle/ }).click({ modifiers: ["Shift"] });
  await words(page, "3 selected", "A redelivery books twice; support sees it weekly.", "Saved query, live");
}

/** Cuts the page off from the gateway, for good. */
async function cutOff(page: Page): Promise<void> {
  const open: WebSocketRoute[] = [];
  let down = false;
  await page.routeWebSocket(/\/rpc/, (socket) => {
    if (down) return void socket.close();
    socket.connectToServer();
    open.push(socket);
  });
  await page.reload();
  await liveThread(page);
  down = true;
  for (const socket of open) await socket.close();
}

/** Two people write the same file. */
async function conflict(page: Page, { desk, ws, folders }: Harbor): Promise<void> {
  const scope = { workspace_id: ws, folder_id: folders.web };
  const { explicit } = await desk.wire.result("thread/agents_doc/get", scope);
  const before = explicit?.content ?? "";
  const field = page.locator(".cm-content");
  await field.click();
  await page.keyboard.press("ControlOrMeta+End");
  await page.keyboard.insertText("- Dates are picked with the keyboard, too.\n");
  const theirs = before.replace("no CSS framework.", "no CSS framework, no icon font.");
  const content = `${theirs}- Dates are typed, never picked.\n`;
  await desk.wire.result("thread/agents_doc/save", { ...scope, content });
  await words(page, "Conflict", "Mine", "Merged", "Theirs");
}

const DESK_SCREENS: readonly Screen[] = [
  { name: "thread", path: thread, show: liveThread },
  {
    name: "context",
    path: (harbor) => `${thread(harbor)}/context/${harbor.webhooks.run.id}?full=1`,
    show: (page) => words(page, "AGENTS.md", "Harbor calendar", "History"),
  },
  {
    name: "palette",
    path: thread,
    async show(page) {
      await liveThread(page);
      await page.keyboard.press("ControlOrMeta+k");
      await page.getByRole("dialog").getByRole("combobox").fill("webh");
      await page.getByRole("option", { name: /Sign webhook bodies/ }).waitFor();
      await words(page, "In messages");
    },
  },
  {
    name: "agents",
    path: thread,
    async show(page) {
      await liveThread(page);
      await page
        .getByRole("main")
        .getByRole("button", { name: /Claude Code/ })
        .first()
        .click();
      await words(page, "Reading list", "Writes and tests code in this project.");
    },
  },
  {
    name: "artifacts",
    path: ({ ws, release }) => `/w/${ws}/thread/${release.checklist}/artifacts`,
    async show(page) {
      await openArtifacts(page);
      await words(page, "What is left before we can tag 4.2?");
      await page
        .getByRole("textbox", { name: /message/i })
        .fill("Move these to 4.2.1 and say so in the changelog");
    },
  },
  {
    name: "editor",
    path: ({ ws, folders }) => `/w/${ws}/agents-md/${folders.backend}`,
    show: (page) =>
      words(page, /Money is an integer of the smallest unit/, "Inherited", "Applies to", "History"),
  },
  {
    name: "error",
    path: ({ ws, bundle }) => `/w/${ws}/thread/${bundle}`,
    show: (page) => words(page, "hook.failed", /Could not resolve/),
  },
  {
    name: "first",
    path: ({ fresh }) => `/w/${fresh}`,
    show: (page) => page.getByRole("heading", { level: 1 }).waitFor(),
  },
  { name: "settings", path: ({ ws }) => `/w/${ws}/settings`, show: (page) => words(page, "Settings") },
  {
    name: "offline",
    path: thread,
    tolerates: /WebSocket|ERR_/,
    async show(page) {
      await cutOff(page);
      await words(page, "The gateway does not answer.");
      const field = page.getByRole("textbox", { name: /message/i });
      await field.fill("Then say in the changelog what changed for ports.");
      await field.press("Enter");
      await words(page, "Not sent yet, kept in this browser");
      await field.fill("And check that the outbox row is written in the same transaction");
    },
  },
];

const PHONE_SCREENS: readonly Screen[] = [
  { name: "phone", path: thread, phone: true, show: liveThread },
  {
    name: "phone-tree",
    path: ({ ws }) => `/w/${ws}`,
    phone: true,
    show: (page) => words(page, "Webhooks book twice", "Archive"),
  },
  {
    name: "phone-context",
    path: (harbor) => `${thread(harbor)}/context`,
    phone: true,
    show: (page) => words(page, "AGENTS.md", "History"),
  },
  {
    name: "phone-artifacts",
    path: ({ ws, release }) => `/w/${ws}/thread/${release.checklist}/artifacts`,
    phone: true,
    show: openArtifacts,
  },
  {
    name: "phone-editor",
    path: ({ ws, folders }) => `/w/${ws}/agents-md/${folders.backend}`,
    phone: true,
    show: (page) => words(page, /Money is an integer of the smallest unit/),
  },
];

/** Those that leave something behind come last. */
const LAST_SCREENS: readonly Screen[] = [
  {
    name: "empty",
    path: ({ ws, folders }) => `/w/${ws}/folder/${folders.ideas}`,
    async show(page, { desk, ws }) {
      const { folders } = await desk.wire.result("thread/tree", { workspace_id: ws });
      const known =
        folders.find(({ name }) => name === "Release 4.3")?.id ?? (await desk.folder("Release 4.3"));
      await page.goto(new URL(`/w/${ws}/folder/${known}`, page.url()).href);
      await page.getByRole("heading", { name: /Release 4.3 is empty/ }).waitFor();
    },
  },
  {
    name: "conflict",
    path: ({ ws, folders }) => `/w/${ws}/agents-md/${folders.web}`,
    show: conflict,
  },
];

export const SCREENS: readonly Screen[] = [...DESK_SCREENS, ...PHONE_SCREENS, ...LAST_SCREENS];

/** A browser that has been here before: folders are open, one answer is new, and it was asked about notifications. */
export function returning(url: string, { ws, folders, slowQuery, bundle }: Harbor): BrowserContextOptions {
  const { backend, payments, web, release } = folders;
  const layout = { [ws]: { openFolders: [backend, payments, web, release] } };
  const prefs = { state: { notify: "off", layout }, version: 0 };
  const until = Math.ceil(Date.now() / 1000) + 1;
  const seen = { [ws]: { until, news: { [slowQuery]: "answer", [bundle]: "failed" } } };
  const localStorage = [
    { name: "heddle.prefs", value: JSON.stringify(prefs) },
    { name: "heddle.seen", value: JSON.stringify(seen) },
  ];
  return { storageState: { cookies: [], origins: [{ origin: url, localStorage }] } };
}
