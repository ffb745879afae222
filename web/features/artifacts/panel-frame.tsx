import { Ellipsis, Pencil, Pin, Trash2, X } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { MAX_NAME_CHARS } from "../../../src/protocol/plain.js";
import {
  closePanel,
  type Panel,
  putFirst,
  selectPanel,
  usePanelSelected,
  usePanels,
} from "../../state/panels.js";
import { isComposing } from "../../ui/composing.js";
import { Icon } from "../../ui/icon.js";
import type { MenuItems } from "../../ui/menu.js";
import { MenuButton } from "../../ui/menu-button.js";
import { deleteArtifact, ICONS, renameArtifact, startRenaming, useRenaming } from "./artifact-actions.js";

interface PanelFrameProps {
  readonly panel: Panel;
  /** `14 items, 6 open` */
  readonly about?: string | undefined;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** The box around a list, note or view. Whatever is touched in it makes it the selected one. */
export function PanelFrame({ panel, about, actions, children }: PanelFrameProps) {
  const { id, kind, name } = panel;
  const on = usePanelSelected(id);
  const renaming = useRenaming((state) => state.id === id);
  const touch = () => selectPanel(id);
  return (
    <section
      className={`panel${on ? " on" : ""}`}
      aria-label={name}
      data-kind={kind}
      onFocusCapture={touch}
      onPointerDown={touch}
    >
      <header>
        <Icon of={ICONS[kind]} size={16} />
        {renaming ? <NameField panel={panel} /> : <PanelName panel={panel} about={about} />}
        {actions}
        <MenuButton className="ib sm" label={`More for ${name}`} items={() => menuOf(panel)}>
          <Icon of={Ellipsis} size={14} />
        </MenuButton>
      </header>
      {children}
    </section>
  );
}

function PanelName({ panel, about }: { readonly panel: Panel; readonly about?: string | undefined }) {
  return (
    <>
      <h2 className="strong cut" onDoubleClick={() => startRenaming(panel.id)}>
        {panel.name}
      </h2>
      {about && <span className="small ink-3 num about">{about}</span>}
      <span className="grow" />
    </>
  );
}

function menuOf(panel: Panel): MenuItems {
  const { list } = usePanels.getState();
  const first = list[0]?.id === panel.id;
  return [
    { label: "Rename", icon: Pencil, run: () => setTimeout(() => startRenaming(panel.id)) },
    ...(first ? [] : [{ label: "Show at full width", icon: Pin, run: () => putFirst(panel.id) }]),
    { label: "Close panel", icon: X, run: () => void closePanel(panel.id) },
    null,
    { label: `Delete ${panel.kind}`, icon: Trash2, run: () => void deleteArtifact(panel) },
  ];
}

/** Enter and leaving it keep the name, Escape does not. */
function NameField({ panel }: { readonly panel: Panel }) {
  const left = useRef(false);
  const end = (field: HTMLElement, stays: boolean) => {
    left.current = true;
    const { fresh } = useRenaming.getState();
    // Whoever went elsewhere with the pointer stays there.
    if (stays && fresh && panel.kind !== "view") useRenaming.setState({ named: panel.artifact });
    else if (stays) field.closest("header")?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.focus();
    startRenaming(undefined);
  };
  const leave = async (field: HTMLInputElement, stays: boolean) => {
    if (left.current) return;
    left.current = true;
    const wanted = field.value.trim();
    if (wanted === "" || wanted === panel.name || (await renameArtifact(panel, wanted))) end(field, stays);
    else left.current = false;
  };
  return (
    <input
      className="panel-name grow"
      aria-label={`Name of the ${panel.kind}`}
      defaultValue={panel.name}
      maxLength={MAX_NAME_CHARS}
      ref={(field) => {
        if (field && document.activeElement !== field) field.select();
      }}
      onBlur={(event) => void leave(event.currentTarget, false)}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === "Enter") void leave(event.currentTarget, true);
        if (event.key === "Escape") {
          event.stopPropagation();
          end(event.currentTarget, true);
        }
      }}
    />
  );
}
