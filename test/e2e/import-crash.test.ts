import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { Claude, PNG, text, toolUse } from "../imports/sessions.js";
import { newId, old, take } from "../imports/stage.js";
import { MortalGateway } from "../support/mortal-gateway.js";
import { temporaryDirectory } from "../support/stores.js";

/** Each costs the start of a gateway. */
const KILLS = Number(process.env.HEDDLE_TEST_KILLS ?? 4);
const SESSIONS = 8;

/** A long session with images; it grows by turns. */
class Growing {
  readonly session: Claude;
  #turns = 0;

  constructor(home: string, cwd: string) {
    this.session = new Claude(home, cwd, newId());
    this.grow();
  }

  grow(): void {
    for (let n = 0; n < 20; n++) {
      const at = this.#turns++;
      const before = at === 0 ? null : `r${at - 1}`;
      const image = { type: "image", source: { media_type: "image/png", data: PNG } };
      this.session
        .user(`u${at}`, before, [text(`Question ${at}`), image])
        .answer(`a${at}`, `u${at}`, [text(`Answer ${at}`), toolUse(`t${at}`, "Read", { at })], {
          stop_reason: "tool_use",
        })
        .result(`r${at}`, `a${at}`, [`t${at}`, "x".repeat(20_000)]);
    }
    old(this.session.save());
  }

  get expected(): string[] {
    return Array.from({ length: this.#turns }, (_, at) => [`Question ${at}`, `Answer ${at}`]).flat();
  }
}

test(`[IMP66] killed at ${KILLS} moments while sessions grow: no thread is half there, and the next import completes it`, async () => {
  const gateway = await MortalGateway.make();
  onTestFinished(() => gateway.remove());
  const home = temporaryDirectory();
  const sessions = Array.from({ length: SESSIONS }, () => new Growing(home, gateway.root));
  const given = { from: "claude" as const, path: `${home}/.claude`, limit: 1_000 };
  for (let kill = 0; kill < KILLS; kill++) {
    const scene = await gateway.start();
    void take(scene, given).catch(() => {});
    await sleep(Math.random() * 400);
    await gateway.kill();
    for (const each of sessions.slice(kill % 3)) each.grow();
  }
  const scene = await gateway.start();
  const { data } = await take(scene, given);
  expect(new Set(data.map(({ status }) => status)).has("skipped")).toBe(false);
  for (const { session, expected } of sessions) {
    const { thread_id = "" } = data.find(({ session_id }) => session_id === session.id) ?? {};
    const messages = await scene.messages(thread_id);
    expect(messages.map(({ content }) => content[0]?.text)).toEqual(expected);
    expect(
      messages.every(({ toolCalls = [] }) => toolCalls.every(({ output }) => output !== undefined)),
    ).toBe(true);
    expect(scene.envelope(thread_id).metadata.heddle.import.messages).toBe(expected.length);
  }
  expect((await take(scene, given)).data.every(({ status }) => status === "exists")).toBe(true);
  await gateway.kill();
}, 1_200_000);
