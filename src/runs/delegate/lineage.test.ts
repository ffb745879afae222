import fc from "fast-check";
import { expect, test } from "vitest";
import { AgentSet, parseConfig } from "../../agents/index.js";
import type { Origin } from "../fold/events.js";
import { type Lineage, lineageOf, lineageOfCaller, whyNotDelegated } from "./lineage.js";

const IDS = ["a", "b", "c", "d"];

function setWith(maxDelegationDepth: number, maxDelegationHops: number): AgentSet {
  const chat = { provider: "openai-compatible", model: "m", config: { baseURL: "http://127.0.0.1:1/v1" } };
  const agents = IDS.map((agentId) => ({ agentId, chat }));
  const text = JSON.stringify({ agents, limits: { maxDelegationDepth, maxDelegationHops } });
  const { config } = parseConfig(text, { file: "heddle.config.json", env: {} });
  return new AgentSet({ config, env: {} });
}

const refusal = (set: AgentSet, from: string, to: string, lineage: Lineage) =>
  whyNotDelegated(set, set.require(from), to, lineage);

/** As a run is told where it comes from. */
function originOf(from: string, { depth, hops, agents }: Lineage): Origin {
  return {
    kind: "delegated",
    mode: "sync",
    thread_id: "thr_1",
    agent_id: from,
    depth: depth + 1,
    hops,
    agents: [...agents, from],
  };
}

test("[DEL72] a person's run stands at the beginning, and a result that was given to it counts", () => {
  expect(lineageOf(undefined)).toEqual({ depth: 0, hops: 0, agents: [] });
  expect(lineageOf({})).toEqual({ depth: 0, hops: 0, agents: [] });
  expect(lineageOf({ hops: 3 })).toEqual({ depth: 0, hops: 3, agents: [] });
  const origin = originOf("a", { depth: 0, hops: 1, agents: [] });
  expect(lineageOf({ origin })).toEqual({ depth: 1, hops: 1, agents: ["a"] });
  expect(lineageOf({ origin, hops: 4 })).toEqual({ depth: 1, hops: 4, agents: ["a"] });
});

test("[DEL72] a result that comes back stands where its caller stood, one hop further", () => {
  const lineage = fc.record({
    depth: fc.nat(5),
    hops: fc.nat(9),
    agents: fc.array(fc.constantFrom(...IDS), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(lineage, fc.constantFrom(...IDS), (given, from) => {
      expect(lineageOfCaller(originOf(from, given))).toEqual({ ...given, hops: given.hops + 1 });
    }),
  );
});

test("[DEL72] whoever asks whom, nobody is asked by somebody it waits for, and no limit is passed", () => {
  const limit = fc.integer({ min: 0, max: 4 });
  const steps = fc.array(fc.record({ to: fc.constantFrom(...IDS), back: fc.boolean() }), { maxLength: 40 });
  fc.assert(
    fc.property(limit, limit, steps, (depth, hops, all) => {
      const set = setWith(depth, hops);
      const above: { id: string; lineage: Lineage }[] = [];
      let at: { id: string; lineage: Lineage } = { id: "a", lineage: lineageOf(undefined) };
      for (const { to, back } of all) {
        const caller = above.at(-1);
        if (back && caller) {
          // It ends, and its result comes back to whoever asked.
          above.pop();
          at = { id: caller.id, lineage: lineageOfCaller(originOf(caller.id, caller.lineage)) };
          continue;
        }
        const waiting = [...above.map(({ id }) => id), at.id];
        const why = refusal(set, at.id, to, at.lineage);
        const may = !waiting.includes(to) && at.lineage.depth < depth && at.lineage.hops < hops;
        expect(why === undefined, why).toBe(may);
        if (!may) continue;
        above.push(at);
        at = { id: to, lineage: lineageOf({ origin: originOf(at.id, at.lineage) }) };
        expect(above).toHaveLength(at.lineage.depth);
      }
    }),
    { numRuns: 300 },
  );
});
