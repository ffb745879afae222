import { X } from "lucide-react";
import { useTree } from "../../state/tree.js";
import { IconButton } from "../../ui/button.js";
import { Link } from "../../ui/link.js";
import { hangStyle } from "./hang.js";
import type { Inherited } from "./use-inherited.js";
import { nameInTitle } from "./words.js";

interface InheritedBlockProps {
  readonly ws: string;
  readonly inherited: Inherited | undefined;
  readonly isRoot: boolean;
  /** Whether the document itself has text. */
  readonly hasText: boolean;
  /** Absent where the pane stands beside the text. */
  readonly onClose: (() => void) | undefined;
}

export function InheritedBlock({ ws, inherited, isRoot, hasText, onClose }: InheritedBlockProps) {
  const name = useTree((tree) => inherited && nameInTitle(tree, inherited.doc));
  return (
    <>
      <div className="bar">
        <h2 className="label grow">Inherited</h2>
        {name && inherited && (
          <Link className="small lone cut" to={{ view: "doc", ws, folder: inherited.doc.folder_id }}>
            {name}
          </Link>
        )}
        {onClose && <IconButton icon={X} label="Close" onClick={onClose} />}
      </div>
      <div className="blk">
        {inherited?.content !== undefined && <Text content={inherited.content} />}
        <p className="small ink-3">{note(inherited !== undefined, isRoot, hasText)}</p>
      </div>
    </>
  );
}

function Text({ content }: { readonly content: string }) {
  return (
    <section className="inh thin-scroll" aria-label="Inherited text" tabIndex={0}>
      {content
        .trimEnd()
        .split("\n")
        .map((line, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have nothing else to be told by
          <span key={at} className={/^#{1,6} /.test(line) ? "hd" : "hang"} style={hangStyle(line)}>
            {line}
            {"\n"}
          </span>
        ))}
    </section>
  );
}

function note(isThere: boolean, isRoot: boolean, hasText: boolean): string {
  if (isRoot) return "Nothing stands above the root.";
  if (!isThere) return "No folder above has an AGENTS.md with text, so nothing is inherited.";
  return hasText
    ? "Not sent here: the nearest file with text wins, and this one has text. Empty it and this applies again."
    : "Sent here, because this file has no text.";
}
