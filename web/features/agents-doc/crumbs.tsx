import { ChevronLeft, PanelLeft } from "lucide-react";
import { Fragment } from "react";
import { useShallow } from "zustand/react/shallow";
import { usePanes } from "../../shell/panes.js";
import { useSize } from "../../shell/size.js";
import { navigate } from "../../state/router.js";
import { folderPath, useTree } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { Link } from "../../ui/link.js";
import type { DocRoute } from "./history.js";

/** Where the document stands; in a narrow window with the way to the tree. */
export function Crumbs({ ws, folder }: DocRoute) {
  const path = useTree(useShallow((tree) => folderPath(tree, folder)));
  const size = useSize();
  const { toggleSide } = usePanes();
  return (
    <>
      {size === "phone" && (
        <IconButton
          icon={ChevronLeft}
          label="Back to the tree"
          onClick={() => navigate({ view: "home", ws })}
        />
      )}
      {size === "narrow" && <IconButton icon={PanelLeft} label="Show the sidebar" onClick={toggleSide} />}
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
