import { type Desk, tokens, toolCall } from "./harbor-desk.js";

const OPEN: readonly (readonly [string, string, string])[] = [
  ["Webhooks book twice", "Payments", "15 Nov"],
  ["Migration dry run on staging", "Payments", "15 Nov"],
  ["Load test at 400 bookings a second", "Backend", "16 Nov"],
  ["Date picker: keyboard trap in Safari", "Web", "18 Nov"],
  ["Checkout copy, second reading", "Web", "18 Nov"],
  ["Bundle below 150 KB", "Web", "19 Nov"],
];

const DONE: readonly (readonly [string, string, string])[] = [
  ["Refund rounding in JPY", "Payments", "12 Nov"],
  ["Slow query on /bookings", "Backend", "11 Nov"],
  ["Idempotency keys audit", "Payments", "9 Nov"],
  ["Rotate the signing key", "Backend", "8 Nov"],
  ["Upgrade guide for 4.2", "Docs", "7 Nov"],
  ["Fix login redirect loop", "Web", "5 Nov"],
  ["Berth map on small screens", "Web", "4 Nov"],
  ["Close the 4.1 milestone", "Docs", "3 Nov"],
];

const item =
  (done: boolean) =>
  ([title, area, due]: readonly [string, string, string]) => ({
    title,
    done,
    tags: [area, due],
  });

const NOTE = `**Webhooks.** A redelivery books twice; support sees it weekly.

**Migration.** Adds the unique index the fix relies on.

**Load test.** The new transaction holds a lock; we must know for how long.
`;

const QUERY = 'list:"Release 4.2" done:false -tag:Web';

export interface Artifact {
  readonly id: string;
  readonly name: string;
}

export interface Release {
  /** The thread. */
  readonly checklist: string;
  readonly list: Artifact & { readonly items: readonly { readonly id: string; readonly title: string }[] };
  readonly note: Artifact;
  readonly view: Artifact & { readonly query: string };
}

/** The list of the release, and the thread in which Notes made a view and a note of it. */
export async function release(desk: Desk, folder_id: string): Promise<Release> {
  const items = [...OPEN.map(item(false)), ...DONE.map(item(true))];
  const list = await desk.tool<Release["list"]>("lists_create", { name: "Release 4.2", items });
  const { id } = await desk.thread({ folder_id, agent_id: "notes", title: "Release checklist" });
  for (const [asked, text] of EARLIER) await desk.answered(id, asked, [{ text }, tokens(1_210, 40)]);
  await whatIsLeft(desk, id, list);
  await whatBlocks(desk, id, list);
  const { views } = await desk.tool<{ views: Release["view"][] }>("views_list", {});
  const { notes } = await desk.tool<{ notes: { id: string; title: string }[] }>("notes_list", {});
  const [view] = views;
  const [note] = notes;
  if (!view || !note) throw new Error("harbor: Notes made no view or note");
  return { checklist: id, list, view, note: { id: note.id, name: note.title } };
}

const EARLIER: readonly (readonly [string, string])[] = [
  ["Start a list for release 4.2.", "There is one now: Release 4.2, still empty."],
  ["Put in what stands in the milestone.", "Fourteen items, in the order of their dates."],
  ["Which are done?", "Eight of them. I checked them off."],
  ["Tag each with its area.", "Done: Payments, Backend, Web and Docs."],
  ["When do we want to tag it?", "On 20 November, if what blocks is done by the 16th."],
];

async function whatIsLeft(desk: Desk, id: string, list: Artifact): Promise<void> {
  desk.script(
    "What is left before we can tag 4.2?",
    [toolCall("call_get", "lists_get", { list: "Release 4.2" }), tokens(1_610, 22)],
    [
      {
        text: "Six items are open. Three block the tag: the migration dry run, the webhook fix and the load test. The other three can follow in 4.2.1.",
      },
      tokens(2_180, 48),
    ],
  );
  const line = `<context panel-id="p1" panel-type="lists" panel-title="Release 4.2" type="list" id="${list.id}" name="Release 4.2" />`;
  await desk.ended((await desk.start(id, `${line}\nWhat is left before we can tag 4.2?`)).id);
}

async function whatBlocks(desk: Desk, id: string, list: Release["list"]): Promise<void> {
  desk.script(
    "Make a view of the ones that block, and write down why.",
    [
      toolCall("call_view", "views_create", { name: "Blocks the tag", query: QUERY }),
      toolCall("call_note", "notes_create", { title: "Why these three block", content: NOTE }),
      tokens(2_340, 160),
    ],
    [
      {
        text: "The view **Blocks the tag** stays current by itself. The reasons are in **Why these three block**.",
      },
      tokens(2_590, 31),
    ],
  );
  const line = `<context panel-id="p1" panel-type="lists" panel-title="Release 4.2" type="list" id="${list.id}" name="Release 4.2" selection="${list.items[0]?.id}" />`;
  const asked = `${line}\nMake a view of the ones that block, and write down why.`;
  await desk.ended((await desk.start(id, asked)).id);
}
