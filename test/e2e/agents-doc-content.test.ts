import { expect, test } from "vitest";
import { docLike, post, type Scene, type Stage, sha256, stageOn } from "../support/agents-doc.js";
import { onEitherStore } from "../support/stores.js";

const LIMIT = 65_536;

onEitherStore("content of documents", (kind) => {
  const stage = stageOn(kind);
  normalising(stage);
  untouched(stage);
  limits(stage);
  digests(stage);
  statuses(stage);
  characters(stage);
});

function normalising({ scene: open }: Stage): void {
  test.each([
    ["[DOC35] a leading byte order mark goes", "\uFEFF# A\n", "# A\n"],
    ["[DOC35] only one goes", "\uFEFF\uFEFF# A", "\uFEFF# A"],
    ["[DOC35] one that stands elsewhere stays", "# A\uFEFF\n\uFEFF", "# A\uFEFF\n\uFEFF"],
    ["[DOC36] [API26] CRLF becomes LF", "a\r\nb\r\n", "a\nb\n"],
    ["[DOC36] a lone CR becomes LF", "a\rb\r", "a\nb\n"],
    ["[DOC36] CR CR LF are two line ends", "a\r\r\nb", "a\n\nb"],
    ["[DOC36] LF CR are two line ends", "a\n\rb", "a\n\nb"],
    ["[DOC35] [DOC36] both at once", "\uFEFF\r\n# A\r", "\n# A\n"],
  ])("%s", async (_, sent, kept) => {
    const scene = await open();
    const doc = await scene.save(sent);
    expect(doc).toEqual(docLike(kept, { workspace_id: scene.workspace_id }));
    expect((await scene.get()).explicit).toEqual(doc);
  });
}

function untouched({ scene: open }: Stage): void {
  test.each([
    ["white space at line ends", "a  \t\nb \n"],
    ["a missing last line end", "a\nb"],
    ["white space before the text", "\n\n   a"],
    ["blank lines at the end", "a\n\n\n\n"],
    ["tabs", "\ta\tb"],
    ["a composed letter", "caf\u00e9"],
    ["a decomposed letter", "cafe\u0301"],
    ["other line separators", "a\u2028b\u2029c\u0085d\u000be\u000cf"],
    ["control characters", "a\u0001\u001b[31m\u007fb"],
    ["quotes, backslashes and what SQL and LIKE give a meaning", '\'; drop table "x" -- \\ \\n %_$1 ?'],
    ["letters outside of the first plane", "𐐷 👩‍👩‍👧 🇩🇪"],
    ["noncharacters", "a\uffff\ufffeb\u{10ffff}"],
    ["markup", "</AGENTS_MD>&lt;<script>"],
  ])("[DOC37] [DOC66] unchanged: %s", async (_, content) => {
    const scene = await open();
    const doc = await scene.save(content);
    expect(doc).toEqual(docLike(content, { workspace_id: scene.workspace_id }));
    expect((await scene.get()).explicit).toEqual(doc);
  });

  test("[DOC37] composed and decomposed forms are two contents", async () => {
    const scene = await open();
    const first = await scene.save("caf\u00e9");
    const second = await scene.save("cafe\u0301");
    expect([first.version, second.version]).toEqual([1, 2]);
    expect(second.content_sha256).not.toBe(first.content_sha256);
  });
}

async function savedCount(scene: Scene, content: string): Promise<number | undefined> {
  const doc = await scene.save(content);
  expect(doc.content_sha256).toBe(sha256(doc.content));
  const { explicit } = await scene.get();
  expect(explicit).toEqual(doc);
  return (await scene.tree()).agents_docs[0]?.char_count;
}

function limits({ scene: open }: Stage): void {
  test.each([
    ["letters", "a".repeat(LIMIT)],
    ["emoji, twice as long in UTF-16", "😀".repeat(LIMIT)],
    ["letters of three bytes", "語".repeat(LIMIT)],
    ["CRLF, counted once normalised", "\r\n".repeat(LIMIT - 1).concat("x")],
    ["a byte order mark, which does not count", `\uFEFF${"a".repeat(LIMIT)}`],
    ["combining marks, each of them one", "e\u0301".repeat(LIMIT / 2)],
  ])("[API30] [DOC38] [DOC40] 65,536 characters fit: %s", async (_, content) => {
    expect(await savedCount(await open(), content)).toBe(LIMIT);
  });

  test.each([
    ["letters", "a".repeat(LIMIT + 1), LIMIT + 1],
    ["emoji", "😀".repeat(LIMIT + 1), LIMIT + 1],
    ["CRLF, counted once normalised", "\r\n".repeat(LIMIT + 1), LIMIT + 1],
    ["a second byte order mark", `\uFEFF\uFEFF${"a".repeat(LIMIT)}`, LIMIT + 1],
    ["white space", " ".repeat(LIMIT * 2), LIMIT * 2],
  ])("[API44] [DOC39] more are refused and nothing is written: %s", async (_, content, char_count) => {
    const scene = await open();
    await scene.save("# Kept\n");
    await scene.news();
    const before = await scene.state();
    const error = await scene.wire.error("thread/agents_doc/save", {
      workspace_id: scene.workspace_id,
      content,
    });
    expect(error).toEqual({
      code: -32602,
      message: expect.stringContaining("65536"),
      data: { kind: "agents_doc.too_long", char_count, limit: LIMIT },
    });
    expect(await scene.state()).toEqual(before);
  });

  test("[DOC39] a refused first save leaves no document behind", async () => {
    const scene = await open();
    await scene.wire.error("thread/agents_doc/save", {
      workspace_id: scene.workspace_id,
      content: "a".repeat(LIMIT + 1),
    });
    expect(await scene.get()).toEqual({});
    expect(await scene.revisions()).toEqual([]);
  });
}

function digests({ scene: open }: Stage): void {
  test.each([
    ["nothing", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "UTF-8 bytes of letters outside ASCII",
      "äöü\n",
      "0c85dcbb13f73eabef6dcf5ee4e59c5a2a67682a0ee8af6185465c4c1221a881",
    ],
  ])("[DOC41] [API26] the digest of %s", async (_, content, digest) => {
    const scene = await open();
    expect((await scene.save(content)).content_sha256).toBe(digest);
    expect((await scene.tree()).agents_docs[0]?.content_sha256).toBe(digest);
    expect((await scene.revisions())[0]?.content_sha256).toBe(digest);
  });

  test("[DOC41] the digest is of the normalised content", async () => {
    const scene = await open();
    const doc = await scene.save("\uFEFFa\r\nb\r");
    expect(doc.content_sha256).toBe(sha256("a\nb\n"));
  });
}

function statuses({ scene: open }: Stage): void {
  test.each([
    ["nothing", ""],
    ["a space", " "],
    ["line ends", "\r\n\r\n"],
    ["tabs and spaces", " \t \n\t"],
    ["a byte order mark", "\uFEFF"],
    ["a no-break space", "\u00a0\u3000"],
  ])("[API12] [API27] [DOC24] %s makes a draft, which is shown and not in effect", async (_, content) => {
    const scene = await open();
    const doc = await scene.save(content);
    expect(doc.status).toBe("draft");
    expect(await scene.get()).toEqual({ explicit: doc });
    expect(await scene.resolve(await scene.thread())).toEqual({});
    expect((await scene.tree()).agents_docs.map((each) => [each.id, each.status])).toEqual([
      [doc.id, "draft"],
    ]);
  });

  test("[API13] [DOC25] a document with text is active and in effect below it", async () => {
    const scene = await open();
    const doc = await scene.save(" x ");
    expect(doc.status).toBe("active");
    const { effective } = await scene.resolve(await scene.thread(await scene.folder("A")));
    expect(effective?.doc).toEqual(doc);
  });
}

function characters({ scene: open }: Stage): void {
  test.each([
    ["NUL", "a\\u0000b"],
    ["a lone high surrogate", "a\\ud83d"],
    ["a lone low surrogate", "\\ude00a"],
    ["surrogates the wrong way round", "\\ude00\\ud83d"],
    ["NUL at the end", "text\\u0000"],
  ])("[DOC66] %s is refused in content, names and titles", async (_, escaped) => {
    const scene = await open();
    await scene.save("# Kept\n");
    const folder_id = await scene.folder("Kept");
    const thread_id = await scene.thread();
    const before = await scene.state();
    const { workspace_id } = scene;
    const calls: [string, object][] = [
      ["thread/agents_doc/save", { workspace_id, content: "@" }],
      ["thread/folder/create", { workspace_id, name: "@" }],
      ["thread/folder/rename", { workspace_id, folder_id, name: "@" }],
      ["thread/start", { workspace_id, title: "@" }],
      ["thread/update", { workspace_id, thread_id, title: "@" }],
    ];
    for (const [method, params] of calls) {
      const text = JSON.stringify({ jsonrpc: "2.0", id: method, method, params }).replace(
        '"@"',
        `"${escaped}"`,
      );
      scene.wire.send(text);
      const expected = {
        code: -32602,
        message: expect.any(String),
        data: { kind: "invalid_text", issues: [{ path: expect.any(String), message: expect.any(String) }] },
      };
      expect((await scene.wire.answerTo(method)).error, method).toEqual(expected);
      expect((await post(scene.gateway, text)).error, `${method} over HTTP`).toEqual(expected);
    }
    expect(await scene.state()).toEqual(before);
  });
}
