import { markdown, scope, sections } from "./inside.js";
import { oversized, slow } from "./load.js";
import { crossSite, links, paths, rebinding } from "./outside.js";
import type { Plant } from "./plant.js";
import { secrets } from "./secrets.js";

/** At least one for every kind; the quick one of each is tried whenever everything is tested. */
export const plants: readonly Plant[] = [
  ...crossSite,
  ...rebinding,
  ...paths,
  ...links,
  ...scope,
  ...markdown,
  ...sections,
  ...secrets,
  ...oversized,
  ...slow,
];
