import { createRequire } from "node:module";

/** From package.json: the build puts it into the bundle. */
export const VERSION: string = createRequire(import.meta.url)("../../package.json").version;
