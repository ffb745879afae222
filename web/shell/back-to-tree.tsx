import { ArrowLeft } from "lucide-react";
import { navigate } from "../state/router.js";
import { useTree } from "../state/tree.js";
import { IconButton } from "../ui/button.js";
import { useDrawers } from "./panes.js";
import { useSize } from "./size.js";

/** At widths without a sidebar: the way to it. */
export function BackToTree() {
  const size = useSize();
  const ws = useTree((tree) => tree.ws);
  if (size !== "narrow" && size !== "phone") return null;
  const back = () =>
    size === "phone" ? navigate({ view: "home", ws }) : useDrawers.setState({ open: "side" });
  return <IconButton icon={ArrowLeft} label="Threads" onClick={back} />;
}
