import { expect, test } from "vitest";
import { type Scene, type Stage, stageOn } from "../support/agents-doc.js";
import { onEachStore } from "../support/stores.js";
import type { Answer } from "../support/wire.js";

const CLIENTS = 100;

onEachStore("a hundred clients and one document", (kind) => {
  const stage = stageOn(kind);
  rounds(stage);
  freeForAll(stage);
  lastWriteWins(stage);
});

async function crowd(scene: Scene): Promise<Scene[]> {
  return Promise.all(Array.from({ length: CLIENTS }, () => scene.other()));
}

function save(scene: Scene, content: string, expected_version: number): Promise<Answer> {
  const { workspace_id } = scene;
  return scene.wire.call("thread/agents_doc/save", { workspace_id, content, expected_version });
}

/** The whole history is there: every version once, none skipped, each with the content that won it. */
async function expectHistory(scene: Scene, contents: readonly string[]): Promise<void> {
  const { explicit } = await scene.get();
  expect([explicit?.version, explicit?.content]).toEqual([contents.length, contents.at(-1)]);
  const revisions = await scene.revisions();
  expect(revisions.map(({ version }) => version)).toEqual(contents.map((_, i) => contents.length - i));
  const { workspace_id } = scene;
  const kept = await Promise.all(
    revisions.map(({ doc_id, version }) =>
      scene.wire.result("thread/agents_doc/revision", { workspace_id, doc_id, version }),
    ),
  );
  expect(kept.map(({ revision }) => revision.content).reverse()).toEqual(contents);
}

function rounds({ scene: open }: Stage): void {
  test("[DOC7] all at once with the same expected_version: one wins, all others learn the version", async () => {
    const scene = await open();
    const clients = await crowd(scene);
    const won: string[] = [];
    for (let version = 0; version < 6; version++) {
      const answers = await Promise.all(
        clients.map((client, i) => save(client, `round ${version} by ${i}`, version)),
      );
      const winners = answers.filter(({ result }) => result);
      expect(winners.map(({ result }) => result.doc.version)).toEqual([version + 1]);
      won.push(winners[0]?.result.doc.content);
      const losers = answers.filter(({ error }) => error).map(({ error }) => [error?.code, error?.data]);
      const conflict = {
        kind: "version_conflict",
        expected_version: version,
        actual_version: version + 1,
      };
      expect(losers).toEqual(Array.from({ length: CLIENTS - 1 }, () => [-32600, conflict]));
    }
    await expectHistory(scene, won);
  });
}

function freeForAll({ scene: open }: Stage): void {
  test("[DOC7] each tries until it has won once: a hundred versions, none lost, none skipped", async () => {
    const scene = await open();
    const clients = await crowd(scene);
    await scene.news();
    const won: string[] = [];
    await Promise.all(
      clients.map(async (client, i) => {
        let version = 0;
        for (;;) {
          const { result, error } = await save(client, `by ${i}`, version);
          if (result) {
            expect(result.doc.version).toBe(version + 1);
            expect(won[version]).toBe(undefined);
            won[version] = result.doc.content;
            return;
          }
          expect(error?.data).toMatchObject({ kind: "version_conflict", expected_version: version });
          version = Number(error?.data.actual_version);
        }
      }),
    );
    expect([...won].sort()).toEqual(clients.map((_, i) => `by ${i}`).sort());
    await expectHistory(scene, won);
    const told = (await scene.news()).filter(({ method }) => method === "thread/agents_doc/changed");
    expect(told.map(({ params }) => params.doc.content)).toEqual(won);
    const { seq } = await scene.tree();
    expect(told.map(({ params }) => params.seq)).toEqual(won.map((_, i) => seq - 2 * (CLIENTS - i) + 1));
  });
}

function lastWriteWins({ scene: open }: Stage): void {
  test("[DOC46] [DOC3] all at once without expected_version: one document, a version for each", async () => {
    const scene = await open();
    const clients = await crowd(scene);
    const docs = await Promise.all(clients.map((client, i) => client.save(`by ${i}`)));
    expect(new Set(docs.map(({ id }) => id)).size).toBe(1);
    const won: string[] = [];
    for (const { version, content } of docs) won[version - 1] = content;
    expect(won.length).toBe(CLIENTS);
    await expectHistory(scene, won);
    expect((await scene.tree()).agents_docs.length).toBe(1);
  });

  test("[DOC7] saves and archives at once: every version has its revision", async () => {
    const scene = await open();
    const clients = await crowd(scene);
    await Promise.all(clients.map((client, i) => (i % 5 === 0 ? client.archive() : client.save(`by ${i}`))));
    const revisions = await scene.revisions();
    const { explicit } = await scene.get();
    const living = revisions.filter(({ doc_id }) => doc_id === explicit?.id);
    expect(living.map(({ version }) => version)).toEqual(living.map((_, i) => living.length - i));
    expect(explicit?.version ?? 0).toBe(living.length);
    for (const doc_id of new Set(revisions.map((each) => each.doc_id))) {
      const own = revisions.filter((each) => each.doc_id === doc_id);
      expect(own.map(({ version }) => version)).toEqual(own.map((_, i) => own.length - i));
      expect(own.slice(1).every(({ reason }) => reason === "autosave")).toBe(true);
      if (doc_id !== explicit?.id) expect(own[0]?.reason).toBe("archive");
    }
    expect(revisions.filter(({ reason }) => reason === "autosave").length).toBe(80);
  });
}
