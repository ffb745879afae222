import { X } from "lucide-react";
import { Icon } from "./icon.js";

/** Each has a shape of its own; colour only helps. */
export type Mark = "running" | "waiting" | "queued" | "new" | "failed";

const CLASSES = { running: "run", waiting: "ask", queued: "queue", new: "new", failed: "fail" };
const WORDS = {
  running: "running",
  waiting: "waiting for you",
  queued: "queued",
  new: "new answer",
  failed: "failed",
};

export function StateMark({ mark, silent = false }: { readonly mark: Mark; readonly silent?: boolean }) {
  return (
    <span className={`st st-${CLASSES[mark]}`}>
      {!silent && <span className="sr">{WORDS[mark]}</span>}
      {mark === "failed" && <Icon of={X} size={12} />}
    </span>
  );
}
