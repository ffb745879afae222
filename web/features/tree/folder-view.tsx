import { ScrollText, SquarePen } from "lucide-react";
import { BackToTree } from "../../shell/back-to-tree.js";
import { useSize } from "../../shell/size.js";
import { navigate } from "../../state/router.js";
import { docInEffect, folderPath, ROOT, useFolder, useTree } from "../../state/tree.js";
import { useWorkspaces } from "../../state/workspaces.js";
import { Button, IconButton } from "../../ui/button.js";
import { counted } from "../../ui/format.js";
import { Link } from "../../ui/link.js";
import { newThread, openDoc } from "./actions.js";
import { FirstSteps } from "./first-steps.js";
import { heldBy } from "./rows.js";
import "./place.css";

/** A folder: what applies in it, and what to do first. */
export default function FolderView({ folderId }: { readonly folderId: string }) {
  const folder = useFolder(folderId);
  const ready = useTree((tree) => tree.state === "ready");
  if (!ready) return <main className="main" aria-busy="true" />;
  if (!folder) return <NoFolder />;
  return <Place folder={folderId} name={folder.name} />;
}

/** The root of the workspace, shown when nothing is open. */
export function RootView() {
  const ws = useTree((tree) => tree.ws);
  const name = useWorkspaces().find(({ id }) => id === ws)?.name ?? "Heddle";
  return <Place folder={undefined} name={name} />;
}

interface PlaceProps {
  readonly folder: string | undefined;
  readonly name: string;
}

function Place({ folder, name }: PlaceProps) {
  const known = useTree((tree) => tree.docs.has(folder ?? ROOT));
  const held = useTree((tree) => heldBy(tree.children).get(folder ?? ROOT) ?? 0);
  const folders = useTree((tree) => tree.children.get(folder ?? ROOT)?.folders.length ?? 0);
  const empty = held === 0 && folders === 0;
  const phone = useSize() === "phone";
  const facts = [
    ...(held > 0 ? [counted(held, "thread")] : []),
    ...(folders > 0 ? [counted(folders, "folder")] : []),
  ];
  return (
    <main className="main">
      <header className="bar">
        <BackToTree />
        <Crumbs folder={folder} name={name} />
        <Button kind="quiet" icon={ScrollText} className="only-wide" onClick={() => openDoc(folder)}>
          {known ? "Edit AGENTS.md" : "Create AGENTS.md"}
        </Button>
        {phone ? (
          <IconButton icon={SquarePen} label="New thread" onClick={() => void newThread({ folder })} />
        ) : (
          <Button icon={SquarePen} onClick={() => void newThread({ folder })}>
            New thread
          </Button>
        )}
      </header>
      <div className="blank place">
        <h2>{empty ? `${name} is empty` : name}</h2>
        <p className="ink-2 place-says">
          {!empty && `${facts.join(", ")}. `}
          <Applies folder={folder} />
        </p>
        <FirstSteps folder={folder} />
      </div>
    </main>
  );
}

function Crumbs({ folder, name }: PlaceProps) {
  const ws = useTree((tree) => tree.ws) as string;
  const tree = useTree();
  const above = folderPath(tree, folder).slice(0, -1);
  return (
    <div className="crumbs grow">
      {above.map(({ id, name: step }) => (
        <span key={id} className="row-x only-wide">
          <Link to={{ view: "folder", ws, folder: id }}>{step}</Link>
          <i aria-hidden="true">/</i>
        </span>
      ))}
      <h1 className="cut">{name}</h1>
    </div>
  );
}

function Applies({ folder }: { readonly folder: string | undefined }) {
  const tree = useTree();
  const doc = docInEffect(tree, folder);
  const here = folder === undefined ? "Threads at the root" : "Threads in this folder";
  if (!doc) return `${here} follow no AGENTS.md yet.`;
  const path = folderPath(tree, doc.folder_id).map(({ name }) => name);
  const name = path.length === 0 ? "root AGENTS.md" : [...path, "AGENTS.md"].join("/");
  return (
    <>
      {here} follow {path.length === 0 ? "the " : ""}
      <Link to={{ view: "doc", ws: tree.ws as string, folder: doc.folder_id }}>
        {name} v{doc.version}
      </Link>
      .
    </>
  );
}

function NoFolder() {
  const ws = useTree((tree) => tree.ws);
  return (
    <main className="main">
      <header className="bar">
        <BackToTree />
        <div className="crumbs grow">
          <h1>No such folder</h1>
        </div>
      </header>
      <div className="blank">
        <h2>This folder is gone</h2>
        <p className="ink-2">Somebody deleted it. What it held moved up to the folder above it.</p>
        <div className="btns place-btns">
          <Button onClick={() => navigate({ view: "home", ws })}>Go to the root</Button>
        </div>
      </div>
    </main>
  );
}
