import { type Acting, attempt } from "../act.js";
import { NOTE } from "../model.js";
import { word } from "./choose.js";

export async function saveRootDoc(acting: Acting): Promise<boolean> {
  return saveDoc(acting, undefined);
}

export async function saveFolderDoc(acting: Acting): Promise<boolean> {
  const folder = acting.known.chance.pick(acting.known.folders);
  return folder !== undefined && saveDoc(acting, folder.id);
}

async function saveDoc(acting: Acting, folder_id: string | undefined): Promise<boolean> {
  const { workspace_id, ledger, known } = acting;
  const doc = ledger.doc(folder_id);
  const content = `Rules of ${word(acting)}.`;
  const last = Math.max(0, ...doc.acknowledged.keys());
  const expected = known.chance.yes(0.6) && { expected_version: last };
  doc.unclear.add(content);
  await attempt(
    acting,
    "thread/agents_doc/save",
    { workspace_id, folder_id, content, ...expected },
    {
      known({ doc: saved }) {
        doc.unclear.delete(content);
        doc.acknowledged.set(saved.version, content);
      },
      refused: () => doc.unclear.delete(content),
      may: /version/,
    },
  );
  return true;
}

export async function noteDown(acting: Acting): Promise<boolean> {
  const { workspace_id, ledger } = acting;
  const text = word(acting);
  ledger.noted.set(text, false);
  const given = { name: "notes_append", arguments: { note: NOTE, text } };
  await attempt(
    acting,
    "tool/call",
    { workspace_id, ...given },
    {
      known({ status, output }) {
        if (status === "completed") ledger.noted.set(text, true);
        else if (!acting.trouble) ledger.problems.push(`refused without a reason: notes_append ${output}`);
      },
    },
  );
  return true;
}
