import { createHash } from "node:crypto";
import {
  accessSync,
  constants as files,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { constants, Script } from "node:vm";

/** Who ran a gateway has run most of what there is: what others compiled would be kept half. */
const GATEWAY = /^gateway-/;
const DIGEST_BYTES = 32;
const BEFORE = "(function (exports, require, module, __filename, __dirname) {";

export interface Parts {
  /** Runs a part, once, and answers what it exports. */
  load(name: string): unknown;
  /** Leaves what had to be compiled for the next start, where this process may write beside the command. */
  keep(): void;
}

/**
 * The files of the bundled command. What Node compiled of them stays beside them, for each version of Node, and need not be
 * compiled again: that was a fourth of a start. It is as trusted as the files are: who can write there can write both. Node
 * looks only at how long a source is, so a part's name must have the hash of it.
 */
export function partsIn(directory: string): Parts {
  const kept = join(directory, "code", String(cachedDataVersionTag()));
  const outside = createRequire(join(directory, "heddle.js"));
  const loaded = new Map<string, { exports: unknown }>();
  const compiled = new Map<string, Script>();

  const load = (name: string) => {
    const known = loaded.get(name);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    const file = join(directory, name);
    const { script, isNew } = compile(file, join(kept, name));
    if (isNew) compiled.set(name, script);
    script.runInThisContext().call(module.exports, module.exports, inside, module, file, directory);
    return module.exports;
  };
  const inside = Object.assign(
    (id: string) => (id.startsWith("./") ? load(id.slice(2)) : outside(id)),
    outside,
  );
  const keep = () => {
    if (compiled.size === 0 || ![...loaded.keys()].some((name) => GATEWAY.test(name))) return;
    try {
      mkdirSync(kept, { recursive: true });
      accessSync(kept, files.W_OK);
      for (const [name, script] of compiled) replace(join(kept, name), script.createCachedData());
    } catch {
      // Nobody may write there: every start compiles.
    }
  };
  return { load, keep };
}

function compile(file: string, kept: string): { script: Script; isNew: boolean } {
  const cachedData = readKept(kept);
  const script = new Script(`${BEFORE}${readFileSync(file, "latin1")}\n})`, {
    filename: file,
    columnOffset: -BEFORE.length,
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    ...(cachedData && { cachedData }),
  });
  return { script, isNew: script.cachedDataRejected !== false };
}

/** Node does not look whether it is whole, and dies of a byte that is another. */
function readKept(path: string): Buffer | undefined {
  try {
    const bytes = readFileSync(path);
    const code = bytes.subarray(DIGEST_BYTES);
    return digestOf(code).equals(bytes.subarray(0, DIGEST_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}

function replace(path: string, code: Uint8Array): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, Buffer.concat([digestOf(code), code]), { flag: "wx" });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function digestOf(code: Uint8Array): Buffer {
  return createHash("sha256").update(code).digest();
}
