/**
 * The modules as they are shipped. The loader that runs the benchmarks wraps every function it compiles, which would be
 * measured too, so what is timed within this process comes from `dist`.
 */
export async function built() {
  const [base, store, tree, instructions, atsf] = await Promise.all([
    load<typeof import("../../src/base/index.js")>("base"),
    load<typeof import("../../src/store/index.js")>("store"),
    load<typeof import("../../src/tree/index.js")>("tree"),
    load<typeof import("../../src/instructions/index.js")>("instructions"),
    load<typeof import("../../src/atsf/index.js")>("atsf"),
  ]);
  return { base, store, tree, instructions, atsf };
}

async function load<M>(module: string): Promise<M> {
  return import(new URL(`../../dist/${module}/index.js`, import.meta.url).href);
}
