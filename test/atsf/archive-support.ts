import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { type ImportedThread, type Project, packThread, unpackThreads } from "../../src/atsf/index.js";
import { envelopeOf } from "./support.js";

export interface RawEntry {
  readonly name: string;
  readonly data?: string | Buffer;
  /** The header's type flag; default: a regular file. */
  readonly type?: string;
  readonly link?: string;
  /** What the header says, whatever the data is. */
  readonly size?: number;
}

const BLOCK = 512;

/** A tar written by hand, so that it can say what no program would. */
export function tar(entries: readonly RawEntry[], end = Buffer.alloc(2 * BLOCK)): Buffer {
  return Buffer.concat([...entries.flatMap(blocks), end]);
}

export const tarGz = (entries: readonly RawEntry[]) => gzipSync(tar(entries));

function blocks({ name, data = "", type = "0", link = "", size }: RawEntry): Buffer[] {
  const bytes = Buffer.from(data as string);
  if (Buffer.byteLength(name) > 100)
    return [
      ...blocks({ name: "long", type: "x", data: pax("path", name) }),
      ...blocks({ name: "long", data, type, link }),
    ];
  const header = Buffer.alloc(BLOCK);
  header.write(name, 0);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(link, 157);
  header.write("ustar\x0000", 257);
  const sum = header.reduce((so, byte) => so + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, bytes, Buffer.alloc(-bytes.length & (BLOCK - 1))];
}

export function pax(key: string, value: string): string {
  const record = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(record);
  length += String(length + String(length).length).length;
  return `${length}${record}`;
}

export const envelopeText = (id: string, more: object = {}) =>
  `${JSON.stringify(envelopeOf(id, more), null, 2)}\n`;

/** Entries of a sound thread. */
export const soundThread = (id: string): RawEntry[] => [
  { name: `${id}/thread.json`, data: envelopeText(id) },
  { name: `${id}/messages.jsonl`, data: '{"id":"m"}\n' },
];

export const packed = (dir: string): Promise<Buffer> => buffer(packThread(dir));

export const unpacked = (archive: Buffer, into: Project, ...rest: [object?]): Promise<ImportedThread[]> =>
  unpackThreads(Readable.from([archive]), into, ...rest);

/** The same archive as it comes over a slow line. */
export function inPieces(archive: Buffer, size: number): Readable {
  const count = Math.ceil(archive.length / size);
  return Readable.from(
    Array.from({ length: count }, (_, index) => archive.subarray(index * size, (index + 1) * size)),
  );
}

/** Every file below a directory with its bytes. */
export function tree(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [relative(dir, path), readFileSync(path, "latin1")]),
  );
}

/** The system's own tar. */
export function systemTar(args: readonly string[], input?: Buffer): Buffer {
  return execFileSync("tar", args, { input, stdio: ["pipe", "pipe", "inherit"], maxBuffer: 2 ** 28 });
}
