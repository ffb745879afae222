import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProjectConfiguration } from "vitest/config";
import { startVitest, type TestCase, type TestModule } from "vitest/node";
import type { Plant } from "./plant.js";
import { type Planted, plantedCommand, plantedPage, planting } from "./planting.js";

/** One attack, and what came of it. */
export interface Attack {
  readonly file: string;
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly problem?: string;
}

/** What became of a plant. Without `escaped` each attack that should find it has failed. */
export interface Tried {
  readonly plant: Plant;
  readonly escaped?: string;
  readonly by: readonly string[];
}

type Told = (line: string) => void;

/** Runs attacks as the ordinary suite does. */
export async function attack(files: readonly string[], told: Told): Promise<Attack[]> {
  const vitest = await startVitest("test", [...files], {
    watch: false,
    run: true,
    retry: 0,
    reporters: [{ onTestModuleEnd: (module) => told(lineOf(module)) }],
  });
  try {
    const found = vitest.state.getTestModules().flatMap(attacksIn);
    const errors = vitest.state
      .getUnhandledErrors()
      .map((error) => String((error as Error).message ?? error));
    return [
      ...found,
      ...errors.map((problem) => ({
        file: "",
        name: "outside of any attack",
        state: "failed" as const,
        problem,
      })),
    ];
  } finally {
    await vitest.close();
  }
}

/** What was built for the plants of this run; another may go on at the same time. */
const BUILT = join(".cache/attack", String(process.pid));

/** Plants each hole in a gateway of its own, and has it attacked. */
export async function tryPlants(plants: readonly Plant[], told: Told): Promise<Tried[]> {
  try {
    return await attackPlanted(plants, told);
  } finally {
    rmSync(BUILT, { recursive: true, force: true });
  }
}

async function attackPlanted(plants: readonly Plant[], told: Told): Promise<Tried[]> {
  const planted = new Map<Plant, Planted>(plants.map((plant) => [plant, new Set()]));
  const projects: TestProjectConfiguration[] = [];
  for (const [at, plant] of plants.entries())
    projects.push(await projectOf(plant, planted.get(plant) as Planted, at));
  const names = [...new Set(plants.flatMap(({ caught }) => caught))];
  const tried: Tried[] = [];
  const vitest = await startVitest(
    "test",
    [],
    {
      config: false,
      watch: false,
      run: true,
      maxWorkers: 2,
      testNamePattern: new RegExp(names.map(escaped).join("|")) as never,
      reporters: [
        {
          onTestModuleEnd(module) {
            const plant = plants[Number(module.project.name)] as Plant;
            const one = judge(plant, planted.get(plant) as Planted, module);
            tried.push(one);
            told(
              one.escaped === undefined ? `caught   ${plant.name}` : `ESCAPED  ${plant.name}: ${one.escaped}`,
            );
          },
        },
      ],
    },
    { test: { projects, globalSetup: ["test/attack/plants/setup.ts"] } },
  );
  await vitest.close();
  return plants.map(
    (plant) =>
      tried.find((one) => one.plant === plant) ?? { plant, by: [], escaped: "its attack did not run" },
  );
}

async function projectOf(plant: Plant, planted: Planted, at: number): Promise<TestProjectConfiguration> {
  const dir = join(BUILT, String(at));
  const env: Record<string, string> = { HEDDLE_DETECT: "off" };
  if (plant.into === "command") env.HEDDLE_TEST_COMMAND = await plantedCommand(plant, planted, dir);
  if (plant.into === "page") env.HEDDLE_TEST_PAGE = await plantedPage(plant, planted, dir);
  return {
    plugins: plant.into === "sources" ? [planting(plant, planted)] : [],
    test: {
      name: String(at),
      include: [plant.attack],
      env,
      pool: "forks",
      retry: 0,
      testTimeout: 60_000,
      hookTimeout: 120_000,
      expect: { poll: { timeout: 10_000 } },
    },
  };
}

/** A hole is caught when the attacks that are named have failed, by what they assert and not by some accident. */
function judge(plant: Plant, planted: Planted, module: TestModule): Tried {
  const tests = [...module.children.allTests()];
  const by = tests.filter(isCaught).map(({ name }) => name);
  const unloaded = plant.holes.map(({ file }) => file).filter((file) => !planted.has(file));
  const unseen = plant.caught.filter((name) => !by.some((one) => one.startsWith(name)));
  if (unloaded.length + unseen.length === 0) return { plant, by };
  const errors = [...module.errors(), ...tests.flatMap((test) => test.result().errors ?? [])];
  const why = errors.map(({ name, message }) => `${name}: ${message.split("\n")[0]}`);
  const what = unloaded.length > 0 ? `nothing loaded ${unloaded}` : `${unseen.join(", ")} did not find it`;
  return { plant, by, escaped: [what, ...why].join("; ") };
}

function isCaught(test: TestCase): boolean {
  const { state, errors = [] } = test.result();
  // What is tried with any number of texts fails with the one that it found.
  const asserted = ({ name, message }: { name?: string; message: string }) =>
    name === "AssertionError" || message.startsWith("Property failed after");
  return state === "failed" && errors.some(asserted);
}

function attacksIn(module: TestModule): Attack[] {
  const file = module.relativeModuleId;
  const failures = module
    .errors()
    .map(({ message }) => ({ file, name: "as a whole", state: "failed" as const, problem: message }));
  const tests = [...module.children.allTests()].map((test): Attack => {
    const { state, errors } = test.result();
    const problem = errors?.map(({ message }) => message).join("\n");
    return {
      file,
      name: test.fullName,
      state: state === "pending" ? "failed" : state,
      ...(problem !== undefined && { problem }),
    };
  });
  return [...failures, ...tests];
}

function lineOf(module: TestModule): string {
  const tests = [...module.children.allTests()];
  const failed = tests.filter((test) => test.result().state === "failed").length + module.errors().length;
  const seconds = (module.diagnostic().duration / 1000).toFixed(1);
  return `${failed === 0 ? "held    " : `${failed} FAILED`} ${module.relativeModuleId} (${tests.length} attacks, ${seconds} s)`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
