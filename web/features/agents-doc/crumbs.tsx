import { Fragment } from "react";
import { useShallow } from "zustand/react/shallow";
import { BackToTree } from "../../shell/back-to-tree.js";
import { folderPath, useTree } from "../../state/tree.js";
import { Link } from "../../ui/link.js";
import type { DocRoute } from "./history.js";

/** Where the document stands; in a narrow window with the way to the tree. */
export function Crumbs({ ws, folder }: DocRoute) {
  const path = useTree(useShallow((tree) => folderPath(tree, folder)));
  return (
    <>
      <BackToTree />
      <div className="crumbs grow">
        {path.map(({ id, name }) => (
          <Fragment key={id}>
            <Link className="cut" to={{ view: "folder", ws, folder: id }}>
              {name}
            </Link>
            <i aria-hidden="true">/</i>
          </Fragment>
        ))}
        <h1 className="mono">AGENTS.md</h1>
      </div>
    </>
  );
}
