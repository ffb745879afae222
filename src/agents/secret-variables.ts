import type { HeddleConfig } from "./parse-config.js";
import { apis } from "./provider-facts.js";

/** Environment variables that hold what only the gateway needs: keys of model APIs, and what its configuration is filled with. */
export function secretVariables(config: HeddleConfig | undefined): string[] {
  return [...Object.values(apis).flatMap(({ keys }) => keys), ...(config?.variables ?? [])];
}
