/**
 * `npm run test:attack [-- KIND …]`: attacks a gateway in every way there is, then plants holes in it and shows that the
 * attacks find them. `--attacks` and `--plants` do one of the two, `--quick` tries one hole of each kind.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Attack, attack, type Tried, tryPlants } from "../test/attack/plants/drive.js";
import { type Kind, kinds } from "../test/attack/plants/kinds.js";
import type { Plant } from "../test/attack/plants/plant.js";
import { unplantable } from "../test/attack/plants/planting.js";
import { plants } from "../test/attack/plants/plants.js";

const HELP = `npm run test:attack [-- [KIND …] [--attacks | --plants] [--quick]]

Attacks the gateway and the page, then plants holes in them and shows that the attacks find each.

  KIND       one or more of: ${Object.keys(kinds).join(", ")}
  --attacks  only attack
  --plants   only plant holes
  --quick    one hole of each kind
  --blank    plant nothing, to see that then nothing is caught
  --help     this text`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    attacks: { type: "boolean", default: false },
    plants: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    blank: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(HELP);
  process.exit(0);
}
const unknown = positionals.filter((name) => !Object.hasOwn(kinds, name));
if (unknown.length > 0) {
  console.error(`There is no kind "${unknown[0]}".\n\n${HELP}`);
  process.exit(2);
}
const chosen = (positionals.length > 0 ? positionals : Object.keys(kinds)) as Kind[];
process.exit(await run());

async function run(): Promise<number> {
  const { chromium } = JSON.parse(readFileSync(".cache/services.json", "utf8"));
  const asked = plants.filter(({ kind, quick }) => chosen.includes(kind) && (quick || !values.quick));
  const wanted = asked.filter(({ inBrowser }) => !inBrowser || chromium.path !== undefined);
  // Before anything takes its time: a plant whose guard was renamed would prove nothing.
  const problems = values.attacks ? [] : unplantable(wanted);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  const attacks = values.plants ? [] : await attackAll();
  const tried = values.attacks ? [] : await plantAll(wanted);
  showFailures(attacks);
  showTable(attacks, tried);
  const failed = attacks.filter(({ state }) => state === "failed").length;
  const escaped = tried.filter((one) => one.escaped !== undefined).length;
  const held = attacks.filter(({ state }) => state === "passed").length;
  console.log(`${held + tried.length - escaped} passed, ${failed + escaped} failed`);
  if (asked.length > wanted.length && !values.attacks)
    console.log(`${asked.length - wanted.length} skipped: ${chromium.missing}`);
  const nothing = attacks.length + tried.length === 0;
  return failed + escaped > 0 || nothing ? 1 : 0;
}

function attackAll(): Promise<Attack[]> {
  const files = chosen.flatMap((kind) => kinds[kind]);
  console.log(`Attacking: ${files.length} files of ${chosen.length} kinds …`);
  return attack(files, console.log);
}

function plantAll(wanted: readonly Plant[]): Promise<Tried[]> {
  console.log(`Planting ${wanted.length} holes, each in a gateway of its own …`);
  return tryPlants(values.blank ? wanted.map(blank) : wanted, console.log);
}

/** Each guard in its own place. */
function blank(plant: Plant): Plant {
  return { ...plant, holes: plant.holes.map((hole) => ({ ...hole, hole: hole.guard })) };
}

function showFailures(attacks: readonly Attack[]): void {
  for (const { file, name, state, problem } of attacks)
    if (state === "failed") console.log(`\nGOT THROUGH  ${file}\n  ${name}\n  ${problem ?? ""}`);
}

function showTable(attacks: readonly Attack[], tried: readonly Tried[]): void {
  const rows = chosen.map((kind) => {
    const own: readonly string[] = kinds[kind];
    const here = attacks.filter(({ file }) => own.includes(file));
    const holes = tried.filter(({ plant }) => plant.kind === kind);
    const caught = holes.filter(({ escaped }) => escaped === undefined).length;
    const skipped = here.filter(({ state }) => state === "skipped").length;
    const held = here.filter(({ state }) => state === "passed").length;
    return [kind, here.length, held, skipped, holes.length === 0 ? "-" : `${caught} of ${holes.length}`];
  });
  const heads = ["kind", "attacks", "held", "skipped", "planted holes caught"];
  const widths = heads.map((head, at) =>
    Math.max(...[head, ...rows.map((row) => row[at])].map((cell) => `${cell}`.length)),
  );
  console.log("");
  for (const row of [heads, ...rows])
    console.log(
      row
        .map((cell, at) => `${cell}`.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  console.log("");
}
