import type { CheckedProgram } from "../../../app/index.js";
import type { Check } from "./check.js";

/** The programs of this machine that are agents themselves; none of them is needed. */
export async function checkProgramsHere(): Promise<Check[]> {
  const { checkPrograms } = await import("../../../app/index.js");
  const { names, found } = await checkPrograms(process.env);
  if (names.length === 0) return [];
  if (found.length > 0) return found.map(judge);
  return [{ name: "programs", verdict: "none", detail: `none of ${names.join(", ")} is on the PATH` }];
}

function judge({ program: name, path, version, signedIn, signIn }: CheckedProgram): Check {
  const state =
    signedIn === undefined
      ? "only the program knows whether somebody is signed in"
      : signedIn
        ? "signed in"
        : "not signed in";
  const detail = `${path}, ${version === undefined ? "version unknown" : `version ${version}`}, ${state}`;
  if (version === undefined) {
    const advice = `run \`${path} --version\` to see why it does not tell its version`;
    return { name, verdict: "warning", detail, advice };
  }
  return signedIn === false
    ? { name, verdict: "warning", detail, advice: `to use it, ${signIn}` }
    : { name, verdict: "ok", detail };
}
