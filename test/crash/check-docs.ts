import { createHash } from "node:crypto";
import type { KnownDoc, Ledger } from "./ledger.js";
import type { State } from "./state.js";

/** Every acknowledged version is there with its text; of the others each is one that was sent, once. */
export async function checkDocs(ledger: Ledger, state: State): Promise<string[]> {
  const found = await Promise.all([...ledger.docs.values()].map((doc) => checkDoc(doc, state)));
  return found.flat();
}

async function checkDoc({ folder, acknowledged, unclear }: KnownDoc, state: State): Promise<string[]> {
  const { line, workspace_id } = state;
  const where = `AGENTS.md of ${folder ?? "the root"}`;
  const scope = { workspace_id, folder_id: folder };
  const { data } = await line.call("thread/agents_doc/revisions", { ...scope, limit: 500 });
  const versions = data.toReversed();
  const problems: string[] = [];
  const numbers = versions.map(({ version }) => version);
  if (numbers.some((number, at) => number !== at + 1))
    problems.push(`lost: the versions of ${where} are ${numbers.join(", ")}`);
  const hashes = new Map(versions.map(({ version, content_sha256 }) => [version, content_sha256]));
  for (const [version, content] of acknowledged) {
    if (hashes.get(version) === hashOf(content)) continue;
    problems.push(`lost: version ${version} of ${where} was acknowledged as "${content}"`);
  }
  const open = new Map([...unclear].map((content) => [hashOf(content), content]));
  for (const { version, content_sha256 } of versions) {
    if (acknowledged.has(version)) continue;
    const content = open.get(content_sha256);
    if (content === undefined) problems.push(`doubled: nobody saved version ${version} of ${where}`);
    open.delete(content_sha256);
  }
  const { explicit } = await line.call("thread/agents_doc/get", scope);
  if (explicit?.version !== numbers.at(-1) || explicit?.content_sha256 !== versions.at(-1)?.content_sha256)
    problems.push(`lost: ${where} is at version ${explicit?.version}, its last revision ${numbers.at(-1)}`);
  return problems;
}

function hashOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}
