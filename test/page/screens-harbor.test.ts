import { expect, test } from "vitest";
import { harborStage } from "../support/page/harbor-stage.js";

const stage = harborStage();

test("[PSC1] harbor is what the pictures show", async () => {
  const { desk, ws, webhooks, folders, bundle, datePicker, release } = stage.harbor();
  const { threads, placements, agents_docs } = await desk.wire.result("thread/tree", { workspace_id: ws });
  const titles = (folder: string | undefined) =>
    placements
      .filter(({ folder_id }) => folder_id === folder)
      .sort((a, b) => a.rank - b.rank)
      .map(({ thread_id }) => threads.find(({ id }) => id === thread_id)?.title);
  expect(titles(folders.payments)).toEqual([
    "Webhooks book twice",
    "Refund rounding in JPY",
    "Migration dry run",
    "Idempotency keys audit",
  ]);
  expect(titles(folders.backend)).toEqual(["Slow query on /bookings", "Fix login redirect loop"]);
  expect(titles(folders.web)).toEqual(["Date picker trap", "Checkout copy", "Bundle over 150 KB"]);
  expect(titles(folders.release)).toEqual(["Release checklist", "Changelog"]);
  expect(titles(undefined)).toEqual(["Decisions", "Weekly review"]);
  expect(titles(folders.archive)).toHaveLength(208);
  const versions = agents_docs.map(({ folder_id, version, status }) => [folder_id, version, status]);
  expect(versions).toEqual(
    expect.arrayContaining([
      [undefined, 7, "active"],
      [folders.backend, 3, "active"],
      [folders.payments, 1, "draft"],
      [folders.web, 2, "active"],
    ]),
  );
  const { data: runs } = await desk.wire.result("run/list", { workspace_id: ws, limit: 100 });
  const told = (thread_id: string) =>
    runs.filter((run) => run.thread_id === thread_id).map(({ number, status }) => `${number} ${status}`);
  expect(told(webhooks.id).slice(0, 3)).toEqual(["15 queued", "14 running", "13 completed"]);
  expect(told(webhooks.migration)).toEqual(["1 waiting"]);
  expect(told(bundle)).toEqual(["2 failed", "1 completed"]);
  expect(told(datePicker)).toEqual(["2 queued", "1 running"]);
  expect(told(release.checklist)[0]).toBe("7 completed");
  const tokens = runs
    .filter(({ thread_id, status }) => thread_id === webhooks.id && status === "completed")
    .map(({ usage }) => usage?.input ?? 0);
  expect(tokens).toEqual(tokens.toSorted((a, b) => b - a));
  const { run } = await desk.wire.result("run/get", { run_id: webhooks.run.id });
  expect(run.approvals).toMatchObject([{ agent_id: "codex", name: "bash" }]);
});
