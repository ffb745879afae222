import { Fragment } from "react";
import { useWorkspaces } from "../../state/workspaces.js";
import { count } from "../../ui/format.js";
import { Link } from "../../ui/link.js";
import { visibleExactly } from "../../ui/markdown/visible.js";
import { placesOf } from "./summary.js";
import type { Taken } from "./use-import.js";

interface WhereProps {
  readonly taken: Taken;
  onLeave(): void;
}

/** The workspaces that have what was imported, and the way to each. */
export function Where({ taken, onLeave }: WhereProps) {
  const workspaces = useWorkspaces();
  const places = placesOf(taken);
  if (places.length === 0) return null;
  return (
    <p className="imp-where">
      {places.map(({ ws, threads }, at) => {
        const name = workspaces.find(({ id }) => id === ws)?.name ?? ws;
        return (
          <Fragment key={ws}>
            {at > 0 && ", "}
            {count(threads)} in{" "}
            <Link to={{ view: "home", ws }} onClick={onLeave}>
              {visibleExactly(name)}
            </Link>
          </Fragment>
        );
      })}
    </p>
  );
}
