export { type HookContext, lastingFact } from "./context.js";
export type { Contribution, PhaseContribution, PhaseDiagnostic } from "./contribution.js";
export type { HookError } from "./errors.js";
export { loadHookModule } from "./module-package.js";
export type { HookPackage, HookRun } from "./package.js";
export { reservedPhases } from "./phases.js";
export type { PhaseResult } from "./run-phase.js";
export { HookRuntime, type HookRuntimeOptions } from "./runtime.js";
export { openUserPackage, type UserPackage, userPackageSchema } from "./user-package.js";
