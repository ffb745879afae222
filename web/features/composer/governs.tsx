import { useQuery } from "@tanstack/react-query";
import { ScrollText } from "lucide-react";
import { useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Thread } from "../../../src/protocol/index.js";
import { askForEditor } from "../../state/editor-asked.js";
import { call } from "../../state/gateway.js";
import { docInEffect, docName, useTree } from "../../state/tree.js";
import { counted } from "../../ui/format.js";
import { Icon } from "../../ui/icon.js";
import { Link } from "../../ui/link.js";
import { ToolsPopover } from "./tools-popover.js";

/** Which AGENTS.md and which tools apply to the next message. */
export function Governs({ thread }: { readonly thread: Thread }) {
  const doc = useDoc(thread.id);
  return (
    <span className="governs">
      <Icon of={ScrollText} size={14} />
      {doc.name === undefined ? (
        <Link
          to={{ view: "doc", ws: thread.workspace_id }}
          title="Create the root AGENTS.md"
          onClick={() => askForEditor(thread.workspace_id, undefined)}
        >
          No AGENTS.md applies
        </Link>
      ) : (
        <Link to={{ view: "doc", ws: thread.workspace_id, folder: doc.folder, version: doc.version }}>
          {doc.name} v{doc.version}
        </Link>
      )}
      <Tools thread={thread} alone={doc.name === undefined} />
    </span>
  );
}

function useDoc(threadId: string) {
  return useTree(
    useShallow((tree) => {
      const doc = docInEffect(tree, tree.places.get(threadId)?.folder_id);
      if (!doc) return { name: undefined };
      return { name: docName(tree, doc.folder_id), folder: doc.folder_id, version: doc.version };
    }),
  );
}

function Tools({ thread, alone }: { readonly thread: Thread; readonly alone: boolean }) {
  const { id: thread_id, workspace_id, agent_id } = thread;
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const { data } = useQuery({
    queryKey: ["tools", workspace_id, thread_id, agent_id],
    queryFn: () => call("tool/list", { workspace_id, thread_id }),
  });
  if (!data) return null;
  const offered = data.data.filter((tool) => tool.offered).length;
  const tools =
    offered === 0 ? "no tools apply" : `${counted(offered, "tool")} ${offered === 1 ? "applies" : "apply"}`;
  return (
    <>
      <button
        ref={button}
        type="button"
        className="tools-link only-wide"
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {alone ? tools : `and ${tools}`}
      </button>
      {open && button.current && (
        <ToolsPopover anchor={button.current} tools={data.data} onClose={() => setOpen(false)} />
      )}
    </>
  );
}
