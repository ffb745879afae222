import { useMemo } from "react";
import { agentName, useAgents } from "../../state/agents.js";
import { folderPath, pathText, type Tree, useTree } from "../../state/tree.js";
import { AgentTick } from "../../ui/agent-tick.js";
import { counted } from "../../ui/format.js";
import { newThread } from "./actions.js";
import { moveRows, whyNot } from "./move.js";
import { OpenProject } from "./open-project.js";
import { type Choice, PickDialog } from "./pick-dialog.js";
import { threadKey, threadsInOrder } from "./rows.js";
import { thingsOf } from "./things.js";
import { useView } from "./view.js";
import { folderName, named } from "./words.js";

/** What the tree opens over the page, one at a time. */
export function TreeDialogs() {
  const dialog = useView((view) => view.dialog);
  if (dialog?.kind === "move") return <MoveTo keys={dialog.keys} />;
  if (dialog?.kind === "move-here") return <MoveHere folder={dialog.folder} />;
  if (dialog?.kind === "agent") return <WithAgent folder={dialog.folder} />;
  return dialog ? <OpenProject onClose={close} /> : null;
}

function close(): void {
  useView.setState({ dialog: undefined });
}

/** The root can't be named by an id. */
const TOP = " ";

function MoveTo({ keys }: { readonly keys: readonly string[] }) {
  const children = useTree((tree) => tree.children);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where folders stand is what the list shows
  const choices = useMemo(() => folderChoices(useTree.getState(), keys), [children, keys]);
  return (
    <PickDialog
      title={`Move ${named(thingsOf(keys))} to`}
      placeholder="Folder"
      choices={choices}
      onPick={([id]) => void moveRows(keys, { folder: id === TOP ? undefined : id })}
      onClose={close}
    />
  );
}

function folderChoices(tree: Tree, keys: readonly string[]): Choice[] {
  const things = thingsOf(keys);
  const homes = new Set([
    ...things.threads.map((id) => tree.places.get(id)?.folder_id),
    ...things.folders.map((id) => tree.folders.get(id)?.parent_folder_id),
  ]);
  const off = (id: string | undefined) => {
    if (homes.size === 1 && homes.has(id)) return "already there";
    return whyNot(tree, things, id) && "can't hold itself";
  };
  const choices: Choice[] = [{ id: TOP, name: "Root", off: off(undefined) }];
  const walk = (parent: string) => {
    for (const id of tree.children.get(parent)?.folders ?? []) {
      const above = pathText(tree, tree.folders.get(id)?.parent_folder_id);
      choices.push({ id, name: folderName(tree, id), hint: above, off: off(id) });
      walk(id);
    }
  };
  walk("");
  return choices;
}

function MoveHere({ folder }: { readonly folder: string | undefined }) {
  const children = useTree((tree) => tree.children);
  // biome-ignore lint/correctness/useExhaustiveDependencies: where threads stand is what the list shows
  const choices = useMemo(() => threadChoices(useTree.getState(), folder), [children, folder]);
  return (
    <PickDialog
      title={`Move threads to ${folderName(useTree.getState(), folder)}`}
      placeholder="Thread"
      choices={choices}
      several={(count) => (count === 0 ? "Move threads" : `Move ${counted(count, "thread")}`)}
      onPick={(ids) => void moveRows(ids.map(threadKey), { folder })}
      onClose={close}
    />
  );
}

function threadChoices(tree: Tree, folder: string | undefined): Choice[] {
  return threadsInOrder(tree.children)
    .filter((id) => tree.places.get(id)?.folder_id !== folder)
    .map((id) => {
      const { title = "", agent_id = "" } = tree.threads.get(id) ?? {};
      const path = folderPath(tree, tree.places.get(id)?.folder_id);
      return {
        id,
        name: title,
        hint: path.map(({ name }) => name).join("/"),
        glyph: <AgentTick agentId={agent_id} />,
      };
    });
}

function WithAgent({ folder }: { readonly folder: string | undefined }) {
  const { list } = useAgents();
  const choices = useMemo(
    () =>
      list
        .filter(({ hidden }) => !hidden)
        .map((agent) => ({
          id: agent.agent_id,
          name: agentName(agent, agent.agent_id),
          hint: agent.description,
          glyph: <AgentTick agentId={agent.agent_id} />,
          off: agent.available ? undefined : (agent.reason ?? "not available"),
        })),
    [list],
  );
  return (
    <PickDialog
      title="New thread with"
      placeholder="Agent"
      choices={choices}
      onPick={([agent]) => void newThread({ folder, agent })}
      onClose={close}
    />
  );
}
