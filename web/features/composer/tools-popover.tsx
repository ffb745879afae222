import { Ban, Wrench } from "lucide-react";
import { useEffect, useRef } from "react";
import { createPortal } from "react-dom";
import type { Result } from "../../../src/protocol/index.js";
import { Icon } from "../../ui/icon.js";

type Tool = Result<"tool/list">["data"][number];

interface ToolsPopoverProps {
  readonly anchor: HTMLElement;
  readonly tools: readonly Tool[];
  onClose(): void;
}

/** Which tools the agent is offered, and which it is refused and why. */
export function ToolsPopover({ anchor, tools, onClose }: ToolsPopoverProps) {
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ref.current?.focus();
    const outside = ({ target }: PointerEvent) => {
      if (!ref.current?.contains(target as Node) && !anchor.contains(target as Node)) onClose();
    };
    addEventListener("pointerdown", outside, true);
    return () => removeEventListener("pointerdown", outside, true);
  }, [anchor, onClose]);
  const close = () => {
    onClose();
    anchor.focus();
  };
  const box = anchor.getBoundingClientRect();
  const place = { left: Math.max(8, box.left - 12), bottom: innerHeight - box.top + 6 };
  const offered = tools.filter((tool) => tool.offered);
  const refused = tools.filter((tool) => !tool.offered);
  return createPortal(
    <div
      ref={ref}
      className="menu tools-pop thin-scroll"
      role="dialog"
      aria-label="Tools"
      tabIndex={-1}
      style={place}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <ToolGroup title={`${offered.length} offered`} tools={offered} />
      {refused.length > 0 && <ToolGroup title={`${refused.length} refused`} tools={refused} />}
    </div>,
    document.body,
  );
}

function ToolGroup({ title, tools }: { readonly title: string; readonly tools: readonly Tool[] }) {
  return (
    <section>
      <h2 className="label small">{title}</h2>
      <ul>
        {tools.map(({ name, offered, reason, description }) => (
          <li key={name}>
            <Icon of={offered ? Wrench : Ban} size={12} />
            <span className="label">{name}</span>
            <span className="grow cut small ink-3" title={reason ?? description}>
              {reason ?? description}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
