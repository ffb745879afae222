import { appendFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { onEachStore } from "../support/stores.js";
import { line, soon, textMessage, threadStage } from "../support/threads.js";

onEachStore("searching messages", (kind) => {
  const stage = threadStage(kind);

  test("[THR60] every word of the query begins a word of the message, whatever its case", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const say = (message_id: string, content: string) =>
      scene.append(id, { id: message_id, role: "user", content });
    await say("m1", "The quick brown fox jumps over getUserName()");
    await say("m2", "A QUICKER brown dog; naïve café");
    await say("m3", "数据库连接失败了 in production");
    const found = async (query: string) => (await scene.found(query)).sort();
    expect(await found("quick")).toEqual(["m1", "m2"]);
    expect(await found("quicker")).toEqual(["m2"]);
    expect(await found("BROWN qui")).toEqual(["m1", "m2"]);
    expect(await found("brown fox dog")).toEqual([]);
    expect(await found("uick")).toEqual([]);
    expect(await found("username")).toEqual([]);
    expect(await found("user getuser")).toEqual(["m1"]);
    expect(await found("naïve")).toEqual(["m2"]);
    expect(await found("连接")).toEqual(["m3"]);
    expect(await found("库")).toEqual(["m3"]);
    expect(await found("失败 prod")).toEqual(["m3"]);
    expect(await found("失败 dev")).toEqual([]);
    for (const query of ["!!!", "'", '"a" OR', "quick*)", "fox & !dog", "\\", "%"]) {
      expect(Array.isArray(await found(query)), query).toBe(true);
    }
    expect(await found("!!!")).toEqual([]);
  });

  test("[THR61] thoughts, tool inputs and tool outputs are searched too, and the system's messages", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, {
      id: "agent",
      role: "agent",
      timestamp: "2026-05-06T07:08:09.000Z",
      content: [
        { type: "thinking", text: "pondering" },
        { type: "text", text: "spoken" },
        { type: "x-other", text: "otherwise" },
      ],
      toolCalls: [
        {
          toolCallId: "c",
          name: "bash",
          title: "Listing",
          status: "completed",
          input: '{"cmd":"ls walrus"}',
          output: "narwhal.txt",
        },
      ],
    });
    await scene.append(id, { id: "system", role: "system", content: "injected" });
    for (const word of ["pondering", "spoken", "otherwise", "listing", "walrus", "narwhal"]) {
      expect(await scene.found(word), word).toEqual(["agent"]);
    }
    expect(await scene.found("injected")).toEqual(["system"]);
    expect((await scene.search("narwhal")).data).toEqual([
      {
        thread_id: id,
        message_id: "agent",
        role: "agent",
        timestamp: "2026-05-06T07:08:09.000Z",
        snippet: expect.stringContaining("narwhal.txt"),
      },
    ]);
  });

  test("[THR62] a snippet shows the text around the match, on one line and bounded", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    const text = `${"lorem ipsum\n".repeat(40)}the NEEDLE is here 😀 ${"dolor sit ".repeat(60)}`;
    await scene.append(id, text);
    const [hit] = (await scene.search("needle")).data;
    expect(hit?.snippet).toMatch(/^….{10,40}the NEEDLE is here 😀 dolor.*…$/u);
    expect(hit?.snippet).not.toContain("\n");
    expect([...(hit?.snippet ?? "")].length).toBeLessThanOrEqual(162);
    await scene.append(id, "short needle");
    expect((await scene.search("short")).data[0]?.snippet).toBe("short needle");
    const input = JSON.stringify({ path: "src/a.ts", edits: [{ old: 'say("heron")\n', line: 3 }] });
    const call = { toolCallId: "c", name: "edit", status: "completed", input, output: '{"not json" heron' };
    await scene.append(id, { id: "tool", role: "agent", content: [], toolCalls: [call] });
    expect((await scene.search("heron")).data[0]?.snippet).toBe(
      'path: src/a.ts, edits: old: say("heron") , line: 3 {"not json" heron',
    );
  });

  test("[THR63] pages walk every hit once, the newest first, in one thread or in all", async () => {
    const scene = await stage.scene();
    const [one, two] = [await scene.start({ title: "1" }), await scene.start({ title: "2" })];
    const wanted: string[] = [];
    for (let n = 0; n < 12; n++) {
      const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, Math.floor(n / 3))).toISOString();
      const id = `m${String(n).padStart(2, "0")}`;
      wanted.unshift(id);
      await scene.append(n % 2 ? one.id : two.id, { id, role: "user", content: "otter", timestamp });
    }
    const walk = async (thread_id?: string) => {
      const walked: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await scene.search("otter", { limit: 5, cursor, thread_id });
        walked.push(...page.data.map(({ message_id }) => message_id));
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      return walked;
    };
    const all = await walk();
    expect([...all].sort()).toEqual([...wanted].sort());
    const second = (id: string) => Math.floor(Number(id.slice(1)) / 3);
    expect(all.map(second)).toEqual(wanted.map(second));
    expect((await walk(one.id)).sort()).toEqual(wanted.filter((id) => Number(id.slice(1)) % 2).sort());
    const { workspace_id } = scene;
    for (const params of [
      { thread_id: "thr_unknown", query: "x" },
      { query: "" },
      { query: "x", cursor: "nonsense" },
      { query: "x".repeat(1_025) },
    ]) {
      expect((await scene.wire.error("thread/search", { workspace_id, ...params })).code).toBe(-32602);
    }
    expect((await scene.wire.error("thread/search", { workspace_id: "ws_no", query: "x" })).data.kind).toBe(
      "workspace.not_found",
    );
  });

  test("[THR64] what was just appended is found, and what is gone is not", async () => {
    const scene = await stage.scene();
    const other = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    for (let n = 0; n < 20; n++) {
      const { id: message_id } = await scene.append(id, `toucan${n}`);
      expect(await scene.found(`toucan${n}`)).toEqual([message_id]);
    }
    expect(await other.found("toucan1")).toEqual([]);
    await scene.wire.result("thread/delete", { thread_id: id });
    expect(await scene.found("toucan")).toEqual([]);
    await scene.wire.result("thread/undelete", { thread_id: id });
    expect(await scene.found("toucan")).toHaveLength(20);
    await scene.wire.result("thread/clear", { thread_id: id });
    expect(await scene.found("toucan")).toEqual([]);
    await scene.append(id, "toucan again");
    expect(await scene.found("toucan")).toHaveLength(1);
  });

  test("[THR64] what another program adds or rewrites is found as it is by now", async () => {
    const scene = await stage.scene();
    scene.foreign("theirs", { log: line(textMessage("m1", "osprey")) });
    await soon(() => scene.found("osprey")).toEqual(["m1"]);
    appendFileSync(scene.path("theirs", "messages.jsonl"), line(textMessage("m2", "osprey too")));
    await soon(() => scene.found("too")).toEqual(["m2"]);
    writeFileSync(scene.path("theirs", "messages.jsonl"), line(textMessage("m3", "buzzard")));
    await soon(() => scene.found("buzzard")).toEqual(["m3"]);
    expect(await scene.found("osprey")).toEqual([]);
  });

  test("[THR65] a restart and a reindex find the same", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ title: "T" });
    await scene.append(id, { id: "before", role: "user", content: "gannet one" });
    await stage.restart();
    const again = await stage.sceneAt(scene.root);
    expect(await again.found("gannet")).toEqual(["before"]);
    await again.append(id, { id: "after", role: "user", content: "gannet two" });
    expect((await again.found("gannet")).sort()).toEqual(["after", "before"]);
    await again.wire.result("workspace/reindex", { workspace_id: again.workspace_id });
    expect((await again.found("gannet")).sort()).toEqual(["after", "before"]);
  });
});
