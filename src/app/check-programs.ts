import { programNames, signInAdvice } from "../agents/index.js";
import { hookEnv } from "./child-env.js";
import { aroundHere, programsOn } from "./look-around.js";
import { programEnv } from "./program-env.js";
import { askVersion } from "./program-version.js";
import { isSignedIn } from "./sign-in.js";
import { Withheld } from "./withheld.js";

export interface CheckedProgram {
  readonly program: string;
  readonly path: string;
  readonly version?: string;
  /** Absent: only the program itself could tell. */
  readonly signedIn?: boolean;
  /** How somebody signs in. */
  readonly signIn: string;
}

export interface CheckedPrograms {
  /** What was looked for; nothing when nobody wants that. */
  readonly names: readonly string[];
  readonly found: readonly CheckedProgram[];
}

/** The programs on the PATH that are agents themselves. Each is asked for its version, and for nothing else. */
export async function checkPrograms(env: NodeJS.ProcessEnv): Promise<CheckedPrograms> {
  const around = aroundHere(env);
  if (!around.env) return { names: [], found: [] };
  const stop = new AbortController().signal;
  const withheld = new Withheld(undefined).names();
  const found = programsOn(around.path).map(async ({ program, path }): Promise<CheckedProgram> => {
    const version = await askVersion({ path, env: hookEnv(env, withheld), stop });
    const signedIn = isSignedIn(program, programEnv({ known: program, env: {} }, env, withheld));
    return {
      program,
      path,
      ...(version !== undefined && { version }),
      ...(signedIn !== undefined && { signedIn }),
      signIn: signInAdvice(program),
    };
  });
  return { names: programNames, found: await Promise.all(found) };
}
