import { failures } from "../base/index.js";

export type ImportsFailure = { kind: "import.path_invalid"; path: string };

const importsError = failures<ImportsFailure>();

export function pathInvalid(path: string, why: string) {
  return importsError({ kind: "import.path_invalid", path }, `${path} can't be read: ${why}.`);
}
