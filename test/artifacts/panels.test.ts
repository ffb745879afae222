import { expect, test } from "vitest";
import { panelsPlugin } from "../../src/tools/artifacts/panels/plugin.js";
import { Panels, ToolRegistry } from "../../src/tools/index.js";
import { contextWith } from "../tools/support.js";

type Event = Parameters<Panels["update"]>[1];
type Panel = Event["payload"]["panels"][number];

const panel = (panel_id: string, more: Partial<Panel> = {}): Panel => ({
  panel_id,
  panel_type: "lists",
  panel_title: undefined,
  context: undefined,
  ...more,
});

const context = (given: Partial<NonNullable<Panel["context"]>>): NonNullable<Panel["context"]> => ({
  type: undefined,
  id: undefined,
  name: undefined,
  view_name: undefined,
  view_query: undefined,
  selection: undefined,
  ...given,
});

function event(
  window_id: string,
  panels: Panel[],
  more: { workspace_id?: string; selected?: string } = {},
): Event {
  const { workspace_id, selected } = more;
  return {
    workspace_id,
    window_id,
    payload: { type: "panel_inventory", panels, selected_panel_id: selected },
  };
}

const ids = (panels: Panels, workspace_id = "ws_1") =>
  panels.open(workspace_id).map(({ panel_id }) => panel_id);

test("[PNL1] the latest inventory of a window takes the place of the one before", () => {
  const [panels, one] = [new Panels(), {}];
  panels.update(one, event("w1", [panel("b"), panel("a")]));
  panels.update(one, event("w2", [panel("c")]));
  expect(ids(panels)).toEqual(["a", "b", "c"]);
  panels.update(one, event("w1", [panel("d")]));
  expect(ids(panels)).toEqual(["c", "d"]);
  panels.update(one, event("w2", []));
  expect(ids(panels)).toEqual(["d"]);
});

test("[PNL1] windows of one id belong to their own connections, and panels are sorted whoever came first", () => {
  const [panels, one, two] = [new Panels(), {}, {}];
  panels.update(two, event("w", [panel("z"), panel("m")]));
  panels.update(one, event("w", [panel("a"), panel("n")]));
  expect(ids(panels)).toEqual(["a", "m", "n", "z"]);
});

test("[PNL2] what a connection told of is forgotten with it, also what it had still on its way", () => {
  const [panels, one, two] = [new Panels(), {}, {}];
  panels.update(one, event("w1", [panel("a")]));
  panels.update(two, event("w1", [panel("b")]));
  panels.forget(one);
  panels.update(one, event("w1", [panel("a")]));
  expect(ids(panels)).toEqual(["b"]);
  panels.forget({});
  expect(ids(panels)).toEqual(["b"]);
});

test("[PNL2] a connection that makes up windows keeps its last 32", () => {
  const [panels, one] = [new Panels(), {}];
  for (let n = 10; n < 60; n++) panels.update(one, event(`w${n}`, [panel(`p${n}`)]));
  panels.update(one, event("w28", [panel("p28")]));
  expect(ids(panels)).toHaveLength(32);
  expect(ids(panels)).toContain("p28");
  expect(ids(panels)).not.toContain("p27");
});

test("[PNL3] a window of one workspace counts there alone, one that names none in each", () => {
  const [panels, one] = [new Panels(), {}];
  panels.update(one, event("w1", [panel("a")], { workspace_id: "ws_1" }));
  panels.update(one, event("w2", [panel("b")], { workspace_id: "ws_2" }));
  panels.update(one, event("w3", [panel("c")]));
  expect(ids(panels, "ws_1")).toEqual(["a", "c"]);
  expect(ids(panels, "ws_2")).toEqual(["b", "c"]);
  expect(ids(panels, "ws_3")).toEqual(["c"]);
});

function toolsOver(panels: Panels) {
  const registry = new ToolRegistry();
  registry.setPlugin(panelsPlugin(panels));
  return async (name: string, args: object = {}) => {
    const { status, output, truncated } = await registry.call(name, { ...args }, contextWith());
    expect(status, output).toBe("completed");
    return { ...JSON.parse(output), ...(truncated && { truncated }) };
  };
}

test("[PNL4] panels_list shows the open panels, with what they show when it is asked for", async () => {
  const [panels, one] = [new Panels(), {}];
  const call = toolsOver(panels);
  expect(await call("panels_list")).toEqual({ panels: [] });
  const shows = context({ type: "list", id: "lst_1", name: "Groceries", selection: ["itm_1"] });
  panels.update(
    one,
    event("w1", [panel("b", { context: shows }), panel("a", { panel_title: "A" })], { selected: "b" }),
  );
  const [a, b] = [
    { window_id: "w1", panel_id: "a", panel_type: "lists", panel_title: "A", selected: false },
    { window_id: "w1", panel_id: "b", panel_type: "lists", selected: true },
  ];
  expect(await call("panels_list")).toEqual({ panels: [a, b] });
  const told = { type: "list", id: "lst_1", name: "Groceries", selection: ["itm_1"] };
  expect(await call("panels_list", { includeContext: true })).toEqual({
    panels: [a, { ...b, context: told }],
  });
});

test("[PNL4] panels_selected shows the selected one of each window", async () => {
  const [panels, one] = [new Panels(), {}];
  const call = toolsOver(panels);
  panels.update(one, event("w1", [panel("a"), panel("b")], { selected: "b" }));
  panels.update(one, event("w2", [panel("b"), panel("c")], { selected: "gone" }));
  panels.update(
    one,
    event("w3", [panel("c", { context: context({ view_name: "V", view_query: "x" }) })], { selected: "c" }),
  );
  const selected = await call("panels_selected", { includeContext: true });
  expect(selected).toEqual({
    panels: [
      { window_id: "w1", panel_id: "b", panel_type: "lists", selected: true },
      {
        window_id: "w3",
        panel_id: "c",
        panel_type: "lists",
        selected: true,
        context: { view_name: "V", view_query: "x" },
      },
    ],
  });
});

test("[PNL4] however much is open or selected, the answer is whole", async () => {
  const [panels, one] = [new Panels(), {}];
  const call = toolsOver(panels);
  const selection = Array.from({ length: 1_000 }, (_, n) => `itm_${n}_${"x".repeat(100)}`);
  const many = Array.from({ length: 100 }, (_, n) => panel(`p${n}`, { context: context({ selection }) }));
  panels.update(one, event("w1", many));
  const { panels: shown, more, truncated } = await call("panels_list", { includeContext: true });
  expect(shown[0].context.selection).toEqual(selection.slice(0, 100));
  expect(shown[0].context.more_selected).toBe(900);
  expect(shown.length + more).toBe(100);
  expect(truncated).toBe(true);
});
